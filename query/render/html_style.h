#pragma once

// Style of a page. Colours for the light mode come first: a mail client without media queries shows these.

#include <string_view>

namespace memoir::query {

inline constexpr std::string_view kHtmlStyle = R"(
:root{color-scheme:light dark}
body{margin:0;background:#fff;color:#1c2024;font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;-webkit-text-size-adjust:100%}
main{max-width:720px;margin:0 auto;padding:40px 20px 56px}
h1{font-size:26px;line-height:1.25;font-weight:650;letter-spacing:-.01em;margin:2px 0 14px}
h2{font-size:17px;line-height:1.3;font-weight:650;margin:36px 0 8px}
p{margin:0 0 8px}
.kicker{font-size:13px;color:#60686f;margin:-8px 0 14px}
.lead{font-size:19px;line-height:1.45;margin:0 0 22px;overflow-wrap:anywhere}
.problem,.problem dt,.problem dd{color:#b42318}
.look,.look dt,.look dd{color:#92560a}
tr.marked td{font-weight:600;background:#f2f6fd}
.warning{margin:0 0 16px;padding:8px 12px;border-left:3px solid #b45309;background:#fdf5e6}
.note,footer{font-size:13.5px;color:#60686f;overflow-wrap:anywhere}
section .note{margin:8px 0 0}
.key{padding-left:84px}
.key span{display:inline-block;width:80px;margin-left:-84px;font-weight:600;color:#1c2024}
section+.lead{margin-top:24px}
footer{margin-top:36px;padding-top:14px;border-top:1px solid #e2e6e9}
dl{margin:0 0 26px;border-top:1px solid #e2e6e9}
dl div{display:inline-block;vertical-align:top;width:32.6%;box-sizing:border-box;padding:11px 10px 5px 0}
dt{font-size:13px;line-height:1.35;color:#60686f}
dd{margin:0;font-size:21px;line-height:1.35;font-weight:600;font-variant-numeric:tabular-nums}
figure{margin:26px 0 30px}
figcaption{font-size:15px;font-weight:600}
.legend{font-size:13px;color:#60686f;margin:2px 0 6px}
.key-line,.key-usual{display:inline-block;width:18px;margin:0 6px 0 0;vertical-align:middle;border-top:2.5px solid #1f6feb}
.key-usual{height:10px;border:0;background:#e6e9ec;margin-left:14px}
.charts{font-size:0;margin:0 -10px 22px}
.charts figure{display:inline-block;vertical-align:bottom;width:50%;box-sizing:border-box;margin:0 0 18px;padding:0 10px;font-size:16px}
.charts figcaption{font-size:13.5px;overflow-wrap:anywhere}
svg{display:block;width:100%;height:auto}
svg.narrow{display:none}
svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:#60686f;font-variant-numeric:tabular-nums}
.grid,.axis{stroke:#e6e9ec;stroke-width:1;fill:none}
.axis{stroke:#9aa2a9}
.line{stroke:#1f6feb;stroke-width:1.75;fill:none;stroke-linejoin:round}
.range{fill:#1f6feb;fill-opacity:.2;stroke:none}
.usual{fill:#dfe3e7;stroke:none}
.gap{fill:#f4f5f6;stroke:none}
.limit{stroke:#b45309;stroke-width:1.25;stroke-dasharray:5 4;fill:none}
path.mark{stroke:#b42318;stroke-width:1.25;fill:none}
svg text.mark{fill:#b42318;font-weight:600}
.key-limit{display:inline-block;width:18px;margin:0 6px 0 14px;vertical-align:middle;border-top:2px dashed #b45309}
.scroll{overflow-x:auto;width:max-content;min-width:100%;max-width:min(50vw + 330px,100vw - 40px)}
table{border-collapse:collapse;width:100%;font-size:14px;line-height:1.4;font-variant-numeric:tabular-nums}
th,td{padding:5px 0 5px 14px;text-align:left;vertical-align:top;border-bottom:1px solid #eceff1}
th:first-child,td:first-child{padding-left:0}
th{font-size:11.5px;font-weight:600;letter-spacing:.03em;color:#60686f;white-space:nowrap;vertical-align:bottom;border-bottom-color:#9aa2a9}
.n{text-align:right;white-space:nowrap}
th.sorted{color:inherit}
.t{white-space:nowrap}
td:first-child{white-space:nowrap}
td:last-child{white-space:normal;overflow-wrap:anywhere}
@media (max-width:560px){
main{padding:22px 16px 40px}
h1{font-size:22px}
.lead{font-size:17px}
dl div{width:49%}
dd{font-size:18px}
svg.wide{display:none}
svg.narrow{display:block}
.charts{margin:0 0 14px}
.charts figure{width:100%;padding:0}
.less{display:none}
.scroll{max-width:calc(100vw - 32px)}
th,td{padding-left:9px}
td:last-child{min-width:7em}
}
@media (prefers-color-scheme:dark){
body{background:#14171a;color:#e4e7ea}
.kicker,.note,footer,dt,.legend,th{color:#9aa3ab}
.key span{color:#e4e7ea}
.warning{background:#2b2214;border-left-color:#d9963a}
.problem,.problem dt,.problem dd{color:#ff8a7a}
.look,.look dt,.look dd{color:#e5ac5a}
tr.marked td{background:#1b2430}
.limit,.key-limit{stroke:#d9963a;border-color:#d9963a}
path.mark{stroke:#ff8a7a}
svg text.mark{fill:#ff8a7a}
footer,dl{border-color:#2b3137}
th,td{border-bottom-color:#262b30}
th{border-bottom-color:#5b646c}
svg text{fill:#9aa3ab}
.grid{stroke:#272d32}
.axis{stroke:#5b646c}
.line{stroke:#6ea8ff}
.range{fill:#6ea8ff}
.usual{fill:#2d343a}
.gap{fill:#1c2024}
.key-line{border-color:#6ea8ff}
.key-usual{background:#2d343a}
}
@page{size:A4;margin:13mm}
@media print{
body{background:#fff;color:#000;font-size:11pt}
main{max-width:none;padding:0}
figure,tr,section h2{break-inside:avoid}
h2{break-after:avoid}
.scroll{overflow:visible;width:auto;max-width:none}
.screen{display:none}
.lead{font-size:11pt;margin-bottom:6px}
h1{font-size:17pt;margin-bottom:8px}
table{font-size:9.5pt}
th,td{padding-top:1px;padding-bottom:1px}
footer{margin-top:12px;padding-top:4px}
.charts{margin-bottom:0}
svg.wide{max-height:40mm}
svg.small{max-height:18mm}
.note,footer{font-size:9.5pt;line-height:1.35}
section .note{margin:1px 0 0}
.key span{color:#000}
figure,h2{margin-top:8px;margin-bottom:4px}
.charts figure{margin-bottom:4px}
}
)";

}  // namespace memoir::query

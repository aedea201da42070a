#include "base/text.h"

#include <set>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/nearest.h"
#include "support/catch.h"

using namespace memoir;

TEST_CASE("numbers are parsed completely or not at all") {
  CHECK(parse_number<int>("42") == 42);
  CHECK(parse_number<int>("-7") == -7);
  CHECK_FALSE(parse_number<int>("42 "));
  CHECK_FALSE(parse_number<int>(""));
  CHECK_FALSE(parse_number<std::uint8_t>("256"));
}

TEST_CASE("the short digest is FNV-1a") {
  CHECK(short_digest("") == 0x811c9dc5);
  CHECK(short_digest("a") == 0xe40c292c);
  CHECK(short_digest("foobar") == 0xbf9cf968);
}

// The input is the bytes 0, 1, 2 …, the key the bytes 0 to 15, as in appendix A of the paper and in its authors'
// vectors.h.
TEST_CASE("the digest is SipHash-2-4") {
  const DigestKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string bytes;
  for (char byte = 0; byte < 15; ++byte) bytes += byte;
  CHECK(digest_of("", key) == 0x726fdb47dd0e0e31);
  CHECK(digest_of(bytes.substr(0, 1), key) == 0x74f839c593dc67fd);
  CHECK(digest_of(bytes.substr(0, 8), key) == 0x93f5f5799a932462);
  CHECK(digest_of(bytes, key) == 0xa129ca6149be45e5);
  CHECK(digest_of("sh this") != digest_of("sh that"));
}

TEST_CASE("cutting lines and words") {
  std::string_view text = "a b\n\nlast";
  CHECK(cut_line(text) == "a b");
  CHECK(cut_line(text).empty());
  CHECK(cut_line(text) == "last");
  CHECK(text.empty());

  std::string_view words = "  one\ttwo ";
  CHECK(cut_word(words) == "one");
  CHECK(cut_word(words) == "two");
  CHECK(cut_word(words).empty());
  CHECK(trim(" \n x y\t") == "x y");
  CHECK(trim(" \n ").empty());
}

TEST_CASE("to_utf8 keeps valid text and escapes each invalid byte") {
  CHECK(to_utf8("gr\xc3\xbc\xc3\x9f") == "gr\xc3\xbc\xc3\x9f");
  CHECK(to_utf8("a\xff"
                "b") == "a\\xffb");
  CHECK(to_utf8("\xc3") == "\\xc3");
  CHECK(to_utf8("\xc0\xaf") == "\\xc0\\xaf");                    // overlong
  CHECK(to_utf8("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // surrogate
  CHECK(to_utf8("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  CHECK(to_utf8("\xf0\x9f\x90\x98") == "\xf0\x9f\x90\x98");
}

TEST_CASE("to_printable escapes every character that moves a terminal's cursor or reverses its text") {
  CHECK(to_printable("a\nb\tc") == "a\\nb\\tc");
  CHECK(to_printable("\x1b[31mred") == "\\x1b[31mred");
  CHECK(to_printable("\xc2\x9b"
                     "0m") == "\\x9b0m");  // C1 control
  CHECK(to_printable("abc\xe2\x80\xae"
                     "cba") == "abc\\u202ecba");
  CHECK(to_printable("\xe6\xbc\xa2") == "\xe6\xbc\xa2");
}

TEST_CASE("to_lower changes ASCII letters only") {
  CHECK(to_lower("Ab-Z\xc3\x84\xff") == "ab-z\xc3\x84\xff");
  CHECK(to_lower("").empty());
}

TEST_CASE("unescape_bytes undoes escape_bytes, and different texts stay different") {
  const std::vector<std::string> texts{
      "",        "a",        "a\xff", "a\\xff",  "a\\x5cxff", "a\\x5c",     "dev\\x2ddisk", "\\\xff",
      "\\x\xff", "\\x8\xf1", "\\",    "\\\\x80", "\xc3\xa4",  "\\xc3\\xa4", "\xc3\\",       "a\\x5c\\xff"};
  std::set<std::string> escaped;
  for (const std::string& text : texts) {
    CAPTURE(text);
    CHECK(unescape_bytes(escape_bytes(text)) == text);
    CHECK(to_utf8(escape_bytes(text)) == escape_bytes(text));
    escaped.insert(escape_bytes(text));
  }
  CHECK(escaped.size() == texts.size());
  CHECK(escape_bytes("dev\\x2ddisk") == "dev\\x2ddisk");
}

TEST_CASE("invisible characters are shown as numbers") {
  CHECK(to_printable("a\u200bb\ufeffc\u00add\u2060e\U000e0041") == "a\\u200bb\\ufeffc\\xadd\\u2060e\\U000e0041");
  CHECK(to_printable("\U0001f469\u200d\U0001f680") == "\U0001f469\u200d\U0001f680");
  CHECK(to_printable("\u2764\ufe0f\u200d\U0001f525") == "\u2764\ufe0f\u200d\U0001f525");
  CHECK(to_printable("nginx\u200d") == "nginx\\u200d");
  CHECK(to_printable("\u200cnginx\ufe0f") == "\\u200cnginx\\ufe0f");
  CHECK(to_printable("\U0001f525\u200d\u200d") == "\U0001f525\u200d\\u200d");
  // Invisible fillers and blanks.
  CHECK(to_printable("a\u3164b\u1160c\u2800d\u034fe\uffa0") == "a\\u3164b\\u1160c\\u2800d\\u034fe\\uffa0");
  CHECK(to_printable("\u115f\u17b4\u180b\u2065\ufff0\U0001d173\U000e0100") ==
        "\\u115f\\u17b4\\u180b\\u2065\\ufff0\\U0001d173\\U000e0100");
}

TEST_CASE("nearest finds a near miss, a completion of a prefix, and nothing distant") {
  CHECK(nearest("intervall", {"interval", "db"}) == "interval");
  CHECK(nearest("tpo", {"trend", "top"}) == "top");
  CHECK(nearest("summry", {"top", "summary"}) == "summary");
  CHECK(nearest("cat", {"categories", "trend"}) == "categories");
  CHECK_FALSE(nearest("t", {"trend", "summary"}));
  CHECK_FALSE(nearest("ba", {"backup", "bargain"}));
  CHECK_FALSE(nearest("a", {"", "backup"}));
  CHECK_FALSE(nearest("xyzzy", {"top", "trend"}));
  CHECK(did_you_mean("tpo", {"top"}) == "; did you mean 'top'?");
  CHECK(did_you_mean("a\x1c", {"a\x1b"}) == "; did you mean 'a\\x1b'?");
  CHECK(did_you_mean("xyzzy", {"top"}).empty());
}

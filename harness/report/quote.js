// A text of others within the text of an interpreter, as harness/quote.h: the only place of the page that
// knows how.

// What cannot be shown: control characters, those that break or turn a line, and no characters at all.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufffe\uffff]|\p{Surrogate}/gu;

// On one line: a comment.
const plainText = (text) => text.replace(HIDDEN, "?");

const bytesOf = (text) =>
  Array.from(new TextEncoder().encode(text), (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

// In gnuplot's double quotes.
const gnuplotText = (text) => `"${plainText(text).replace(/["\\`@]/g, bytesOf)}"`;

// A cell of a CSV file.
function csvText(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// A word of a shell's command line.
function shellWord(text) {
  if (/^[\w@%+=:,./-]+$/.test(text)) {
    return text;
  }
  return text.search(HIDDEN) < 0
    ? `'${text.replaceAll("'", "'\\''")}'`
    : `$'${text.replace(/['\\]/g, "\\$&").replace(HIDDEN, bytesOf)}'`;
}

// The word of a file, which is no option.
const shellFile = (name) => (name.startsWith("-") ? "./" : "") + shellWord(name);

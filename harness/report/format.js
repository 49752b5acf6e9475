// Numbers as `table` prints them, and elements of the page. Texts of files reach the page as text
// nodes only, so that a name with markup is shown and not obeyed.

// Like ss_table_number (harness/table.c): `digits` significant ones, "-" for what is missing.
function formatNumber(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) {
    return "-";
  }
  if (value === 0) {
    return "0";
  }
  if (!Number.isFinite(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  const trim = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e7) {
    return trim(value.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(size)))));
  }
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  return `${trim(mantissa)}e${Number(exponent)}`;
}

// 12.3 ms, 4.5 s
function formatSeconds(seconds) {
  if (!Number.isFinite(seconds)) {
    return formatNumber(seconds);
  }
  return seconds < 1 ? `${formatNumber(1000 * seconds)} ms` : `${formatNumber(seconds)} s`;
}

// "1 problem", "2 problems"
function plural(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

// element("td", {class: "x", onclick: f}, "text", child): attributes that are functions are
// listeners, those that are true or false are properties.
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      node.addEventListener(key.slice(2), value);
    } else if (typeof value === "boolean") {
      node[key] = value;
    } else {
      node.setAttribute(key, value);
    }
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const byId = (id) => document.getElementById(id);

// A name of a problem without its folders: "pony-20.h5:step-03".
function shortName(problem) {
  const colon = problem.search(/\.(h5|hdf5|mat):/);
  const end = colon < 0 ? problem.length : colon;
  return problem.slice(problem.lastIndexOf("/", end) + 1);
}

// Runs `work` once the page is idle after the last of many calls.
function later(work, milliseconds) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, milliseconds);
  };
}

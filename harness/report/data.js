// What the program put into the page: JSON in the element `data`, deflated and in base64 or plain.
//
//   {version, title, made, program, files: [...], problems: [what was wrong with files],
//    records: [{file, rows}] in the order of the rows, tolerance, rows: {column: {v: distinct texts, i: their places} | numbers, null if missing},
//    history: {start, iteration, seconds, error}, solvers: [{spec, start, label, approximate, ...}],
//    notes: [...], simulations: [{file, every, steps, columns}], strands: [heads]}

const DATA_VERSION = 1;

function bytesOfBase64(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) {
    bytes[k] = raw.charCodeAt(k);
  }
  return bytes;
}

// The content of an element of data, as a response. Without DecompressionStream this throws.
function openElement(id) {
  const node = byId(id);
  const packed = node.dataset.packed;
  if (packed === "") {
    return new Response(node.textContent);
  }
  const bytes = bytesOfBase64(node.textContent);
  if (packed === "none") {
    return new Response(bytes);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream);
}

const numbersOf = (list) => Float64Array.from(list, (x) => (x === null ? NaN : x));

// Columns as {text(k)} or arrays of numbers.
function decodeColumns(columns) {
  const decoded = {};
  for (const [name, column] of Object.entries(columns)) {
    decoded[name] = Array.isArray(column)
      ? typeof column[0] === "string"
        ? column
        : numbersOf(column)
      : column.i.map((place) => column.v[place]);
  }
  return decoded;
}

// Iterations are stored as differences. `least` is the smallest error so far in the row, in which the
// first entry within a tolerance is found by halving.
function decodeHistory(history) {
  const iteration = numbersOf(history.iteration);
  const seconds = numbersOf(history.seconds);
  const error = numbersOf(history.error);
  const least = new Float64Array(error.length);
  for (let row = 0; row + 1 < history.start.length; row++) {
    for (let k = history.start[row]; k < history.start[row + 1]; k++) {
      const first = k === history.start[row];
      iteration[k] += first ? 0 : iteration[k - 1];
      const before = first ? Infinity : least[k - 1];
      least[k] = error[k] <= before ? error[k] : before;
    }
  }
  return { start: history.start, iteration, seconds, error, least };
}

async function readData() {
  const data = await openElement("data").json();
  if (data.version !== DATA_VERSION) {
    throw new Error(`the data have version ${data.version}, the script reads ${DATA_VERSION}`);
  }
  if (data.rows) {
    data.rows = decodeColumns(data.rows);
    data.rows.count = data.rows.problem.length;
    data.history = data.history ? decodeHistory(data.history) : null;
  }
  for (const simulation of data.simulations) {
    simulation.columns = decodeColumns(simulation.columns);
  }
  return data;
}

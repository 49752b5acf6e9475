// What the user has chosen. It stands in the address, so that a link shows the same view:
// #tol=1e-6&measure=iterations&hide=pac,dac&problem=...

const DEFAULT_STATE = {
  tol: NaN,
  measure: "seconds",
  record: "", // "all", the place of one, or "": the one that the model begins with
  scene: "",
  from: NaN,
  to: NaN,
  text: "",
  hide: [],
  fix: "",
  problem: "",
  sort: "",
  x: "",
  y: "",
  axis: "iterations",
};

// A text of the address as a value like the default's.
function stateValue(text, byDefault) {
  if (typeof byDefault === "number") {
    return Number(text);
  }
  return Array.isArray(byDefault) ? text.split(",").map(decodeURIComponent) : text;
}

function parseState(hash) {
  const state = { ...DEFAULT_STATE };
  for (const part of hash.replace(/^#/, "").split("&")) {
    const equals = part.indexOf("=");
    const key = part.slice(0, equals);
    if (!Object.hasOwn(DEFAULT_STATE, key)) {
      continue;
    }
    const text = part.slice(equals + 1);
    try {
      const list = Array.isArray(DEFAULT_STATE[key]);
      state[key] = stateValue(list ? text : decodeURIComponent(text), DEFAULT_STATE[key]);
    } catch {
      // A broken address: this choice is not made.
    }
  }
  if (!Object.hasOwn(MEASURES, state.measure)) {
    state.measure = DEFAULT_STATE.measure;
  }
  return state;
}

function printState(state) {
  const parts = [];
  for (const [key, byDefault] of Object.entries(DEFAULT_STATE)) {
    const value = state[key];
    if (Array.isArray(byDefault)) {
      if (value.length > 0) {
        parts.push(`${key}=${value.map(encodeURIComponent).join(",")}`);
      }
    } else if (!Object.is(value, byDefault) && value !== "") {
      parts.push(`${key}=${encodeURIComponent(value)}`);
    }
  }
  return parts.length > 0 ? `#${parts.join("&")}` : "#";
}

// {value, change(part), listen(f)}: f(state, names of what changed).
function makeState() {
  const listeners = [];
  const state = {
    value: parseState(location.hash),
    listen: (listener) => listeners.push(listener),
    change(part) {
      const names = Object.keys(part).filter((key) => !Object.is(state.value[key], part[key]));
      if (names.length === 0) {
        return;
      }
      state.value = { ...state.value, ...part };
      try {
        history.replaceState(null, "", printState(state.value));
      } catch {
        // Some browsers keep the address of a file as it is.
      }
      listeners.forEach((listener) => listener(state.value, names));
    },
  };
  addEventListener("hashchange", () => {
    state.value = parseState(location.hash);
    listeners.forEach((listener) => listener(state.value, Object.keys(DEFAULT_STATE)));
  });
  return state;
}

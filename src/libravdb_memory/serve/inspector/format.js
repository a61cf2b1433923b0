// Figures and times as people read them.

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const minute = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

export const count = (value) => whole.format(value ?? 0);
export const compact = (value) => (value >= 100_000 ? short.format(value) : whole.format(value ?? 0));
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
export const percent = (share, digits = 0) => `${((share || 0) * 100).toFixed(digits)}%`;

export function score(value) {
  return value === null || value === undefined ? "–" : value.toFixed(2);
}

export function signed(value) {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
}

export function bytes(value) {
  let amount = value ?? 0;
  for (const unit of ["B", "KB", "MB", "GB", "TB"]) {
    if (amount < 1024 || unit === "TB") return `${amount < 10 && unit !== "B" ? amount.toFixed(1) : Math.round(amount)} ${unit}`;
    amount /= 1024;
  }
  return "";
}

export function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 0.001) return `${(value * 1000).toFixed(1)} ms`;
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  return `${value.toFixed(value < 10 ? 1 : 0)} s`;
}

export function lasting(total) {
  const parts = [[86_400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const at = parts.findIndex(([size]) => total >= size);
  if (at < 0) return "0 s";
  const [size, unit] = parts[at];
  const rest = parts[at + 1] && Math.floor((total % size) / parts[at + 1][0]);
  return `${Math.floor(total / size)} ${unit}${rest ? ` ${rest} ${parts[at + 1][1]}` : ""}`;
}

/** Today the time, else the day; whole() has both. */
export function when(ts) {
  if (!ts) return "–";
  const date = new Date(ts);
  return date.toDateString() === new Date().toDateString() ? clock.format(date) : `${day.format(date)} ${minute.format(date)}`;
}

export const fully = (ts) => (ts ? `${day.format(new Date(ts))}, ${clock.format(new Date(ts))}` : "–");
export const dayOf = (ts) => day.format(new Date(ts));

export function firstLine(text, most = 140) {
  const line = (text ?? "").replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

const HIDDEN = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0001}-\u{e007f}]/gu;

/** Signs that are not seen, or turn what is seen around, by their code points. */
export function hiddenSigns(text) {
  return [...new Set((text ?? "").match(HIDDEN) ?? [])].map((sign) => `U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
}

/**
 * What was said while nobody listened, on disk, and its delivery.
 *
 * Laws: once `say` returns, the daemon has it or the disk does. It arrives in the order in which it was said, whatever
 * the clock does, at least once; everything that waits here carries a key or may be repeated, so it counts once. What the
 * daemon refuses for good is laid aside in `refused` and blocks nothing. One file holds one call, written whole or not at
 * all. The folder stays within its bound: what finds no room is refused with `Full`, never dropped in silence, and what
 * is there stays.
 */
import { mkdir, open, readFile, readdir, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { Refused } from "./daemon.js";

/** @import { Daemon } from "./daemon.js" */
/** @typedef {{ method: string, params: object }} Call */

const AT_ONCE_MS = 2000;
const REFUSED = "refused";
const MOST_BYTES = 128 * 1024 * 1024;
const ABSENT = new Set(["ENOENT", "ENOTDIR"]);
const BLOCK = 4096; // what a file takes of a disk at least

/** No room for another call: whoever said it must keep it. */
export class Full extends Error {}

export class Spool {
  /** @param {string} folder @param {Daemon} daemon @param {(text: string) => void} warn */
  constructor(folder, daemon, warn) {
    this.folder = folder;
    this.daemon = daemon;
    this.warn = warn;
    this.limit = MOST_BYTES;
    this.count = 0;
    this.lastMoment = 0;
    this.mayWait = true;
    /** @type {Promise<unknown>} */
    this.turn = Promise.resolve();
  }

  /**
   * The daemon's answer; undefined when it waits on disk.
   * @param {string} method @param {object} params @param {number} [timeoutMs] @returns {Promise<any>}
   */
  say(method, params, timeoutMs) {
    return this.inTurn(async () => {
      if (await this.deliver()) {
        try {
          return await this.daemon.call(method, params, timeoutMs ? { timeoutMs } : {});
        } catch (error) {
          if (error instanceof Refused && error.forGood) throw error;
        }
      }
      await this.keep({ method, params });
      return undefined;
    });
  }

  /** Deliver what waits, as far as it goes in a moment. @returns {Promise<boolean>} whether nothing waits */
  catchUp() {
    return this.mayWait ? this.inTurn(() => this.deliver()) : Promise.resolve(true);
  }

  /** What waits, what was refused for good, and how full the folder is. */
  async state() {
    const waiting = await namesIn(this.folder);
    const refused = await namesIn(join(this.folder, REFUSED));
    const bytes = await this.measure();
    return { waiting: waiting.length, refused: refused.length, bytes, limit: this.limit, full: bytes + BLOCK > this.limit };
  }

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  inTurn(work) {
    const mine = this.turn.then(work);
    this.turn = mine.catch(() => {});
    return mine;
  }

  /** @param {Call} call */
  async keep(call) {
    await this.write(this.folder, call);
    this.mayWait = true;
  }

  /** Keep, beside what waits, what would be refused again; say why. @param {Call} call @param {string} reason */
  async keepAside(call, reason) {
    this.warn(`${call.method} was refused and laid aside: ${reason}`);
    await this.write(join(this.folder, REFUSED), call).catch((error) => this.warn(`it is in the host's transcript alone: ${error.message}`));
  }

  /** After every name that waits: a clock may step back, and other processes of the host write here too. */
  async nextName() {
    const newest = Number.parseInt((await namesIn(this.folder)).at(-1) ?? "0", 10);
    this.lastMoment = Math.max(Date.now(), newest + 1, this.lastMoment + 1);
    return `${`${this.lastMoment}`.padStart(15, "0")}-${`${++this.count}`.padStart(8, "0")}-${process.pid}.json`;
  }

  /** @param {string} folder @param {Call} call */
  async write(folder, call) {
    const text = JSON.stringify(call);
    await this.mustFit(onDisk(Buffer.byteLength(text)));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = await this.nextName();
    const beside = join(folder, `.${name}`);
    try {
      await written(beside, text);
      await rename(beside, join(folder, name));
    } catch (error) {
      await unlink(beside).catch(() => {});
      throw error;
    }
    await settled(folder);
  }

  /** @param {number} size */
  async mustFit(size) {
    if ((await this.measure()) + size <= this.limit) return;
    const reason = `${this.folder} is full (${this.limit} bytes)`;
    this.warn(`nothing more can wait for the daemon: ${reason}; 'libravdb openclaw doctor' says more`);
    throw new Full(reason);
  }

  /** Anew each time: other processes of the host write here too. */
  async measure() {
    const folders = [this.folder, join(this.folder, REFUSED)];
    const paths = await Promise.all(folders.map(async (folder) => (await namesIn(folder)).map((name) => join(folder, name))));
    const sizes = await Promise.all(paths.flat().map((path) => stat(path).then((found) => onDisk(found.size), () => 0)));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  async deliver() {
    if (!this.mayWait) return true;
    const names = await namesIn(this.folder);
    const until = Date.now() + AT_ONCE_MS;
    for (const name of names) {
      if (Date.now() > until || !(await this.deliverOne(name))) return false;
    }
    this.mayWait = false;
    return true;
  }

  /** @param {string} name @returns {Promise<boolean>} whether it waits no more */
  async deliverOne(name) {
    const path = join(this.folder, name);
    try {
      /** @type {Call} */
      const call = JSON.parse(await readFile(path, "utf8"));
      await this.daemon.call(call.method, call.params);
    } catch (error) {
      const gone = error instanceof Error && "code" in error && error.code === "ENOENT"; // another process was faster
      if (gone) return true;
      if (!(error instanceof SyntaxError) && !(error instanceof Refused && error.forGood)) return false;
      await this.layAside(name, error.message);
      return true;
    }
    await unlink(path).catch(() => {});
    return true;
  }

  /** @param {string} name @param {string} reason */
  async layAside(name, reason) {
    this.warn(`a waiting call was refused and laid aside: ${reason}`);
    await mkdir(join(this.folder, REFUSED), { recursive: true, mode: 0o700 });
    await rename(join(this.folder, name), join(this.folder, REFUSED, name));
  }
}

/** The calls in a folder, oldest first; where there is no folder, none. @param {string} folder */
async function namesIn(folder) {
  try {
    return (await readdir(folder)).filter((name) => /^\d.*\.json$/.test(name)).sort();
  } catch (error) {
    if (error instanceof Error && "code" in error && ABSENT.has(String(error.code))) return [];
    throw error; // what waits there is not known: nothing may go before it
  }
}

/** @param {number} size */
function onDisk(size) {
  return Math.ceil(size / BLOCK) * BLOCK;
}

/** @param {string} path @param {string} text */
async function written(path, text) {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The folder's own entries, where a system lets folders be synced. @param {string} folder */
async function settled(folder) {
  const opened = await open(folder, "r").catch(() => undefined);
  await opened?.sync().catch(() => {});
  await opened?.close();
}

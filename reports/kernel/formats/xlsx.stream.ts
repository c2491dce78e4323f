import { type EventEmitter, once } from 'node:events';
import { finished, type Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type ExcelJS from 'exceljs';

// as much XML may wait to be compressed before rows wait too
const MAX_WAITING = 512 * 1024;
// of compressed bytes, at each step to the stream
const BUFFER = 64 * 1024;

/** The parts of exceljs' streaming writer that its types leave out. */
interface Archive {
  abort(): void;
  on(event: 'error', listener: (error: Error) => void): void;
}
/** A sheet's XML goes into a stream of an old kind, which tells only inside itself how much of it waits. */
interface SheetStream {
  stream: {
    pipes: (EventEmitter & { _writableState: { length: number }; write(xml: Buffer): boolean })[];
    /** Hands on what has not filled a buffer yet. */
    _flush(): void;
  };
}
interface Styles {
  addStyleModel(style: Partial<ExcelJS.Style>): number;
}

export type Sheet = ExcelJS.Worksheet & { commit(): void };

/** A workbook that is written to a stream row by row, with the back-pressure that the library's own writing of rows lacks. */
export class WorkbookStream {
  readonly #workbook: ExcelJS.stream.xlsx.WorkbookWriter;
  readonly #archive: Archive;
  readonly #out: Writable;
  readonly #signal: AbortSignal;

  private constructor(
    workbook: ExcelJS.stream.xlsx.WorkbookWriter,
    out: Writable,
    stop: AbortController,
    signal: AbortSignal | undefined,
  ) {
    this.#workbook = workbook;
    this.#out = out;
    this.#signal = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
    this.#archive = (workbook as unknown as { zip: Archive }).zip;
    this.#archive.on('error', (error) => stop.abort(error));
  }

  /** Begins a workbook; a stream that fails or a signal given end it. */
  static async open(out: Writable, signal: AbortSignal | undefined): Promise<WorkbookStream> {
    const stop = new AbortController();
    finished(out, { readable: false }, (error) => {
      if (error) stop.abort(error);
    });
    // a tenth of the time that a process takes to start, and most never write a workbook
    const { default: ExcelJS } = await import('exceljs');
    const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({
      stream: out,
      useSharedStrings: false,
      creator: 'Estate',
      useStyles: true,
      zip: { zlib: { level: 1 }, highWaterMark: BUFFER },
    } as never);
    return new WorkbookStream(workbook, out, stop, signal);
  }

  /** Begins a sheet; the one before has to be committed. */
  addSheet(name: string, options: Partial<ExcelJS.AddWorksheetOptions>): Sheet {
    return this.#workbook.addWorksheet(name, options) as Sheet;
  }

  /** The number of a style in the workbook, for cells that are written as XML. */
  styleId(style: Partial<ExcelJS.Style>): number {
    return (this.#workbook as unknown as { styles: Styles }).styles.addStyleModel(style);
  }

  /**
   * Writes rows as XML, behind all that has been committed, and waits until what was written is compressed and taken.
   * @throws the reason of the end, if it came early.
   */
  async writeRows(sheet: Sheet, xml: string): Promise<void> {
    const { stream } = sheet as unknown as SheetStream;
    const part = Buffer.from(xml);
    stream._flush();
    const [out] = stream.pipes;
    out!.write(part);
    await setImmediate();
    this.#signal.throwIfAborted();
    while (out!._writableState.length > MAX_WAITING) {
      await once(out!, 'drain', { signal: this.#signal });
    }
  }

  /** Ends the workbook and waits until the stream has taken all of it. */
  async finish(): Promise<void> {
    const stopped = Promise.withResolvers<never>();
    this.#signal.addEventListener('abort', () => stopped.reject(this.#signal.reason), { once: true });
    this.#signal.throwIfAborted();
    await Promise.race([this.#workbook.commit(), stopped.promise]);
  }

  /** Destroys what is written after a failure. @returns its actual reason. */
  fail(error: unknown): unknown {
    const reason = this.#signal.aborted ? this.#signal.reason : error;
    this.#archive.abort();
    this.#out.destroy(reason instanceof Error ? reason : new Error(String(reason)));
    return reason;
  }
}

import type { Writable } from 'node:stream';
import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { hasSpare, type Snapshot, withSnapshot } from '../../../platform/snapshot.ts';
import { pump } from '../../kernel/formats/pump.ts';
import { type JsonQuery, jsonChunks, planJson } from './extraction.json.ts';
import { exportName, mediaTypes } from './extraction.manifest.ts';
import { planExtraction, snapshotPosition } from './extraction.plan.ts';
import { prepareExtraction } from './extraction.write.ts';

export interface CsvQuery {
  /** Comma-separated card types. */
  type?: string;
  filter: string;
  profile: ExportRequest['profile'];
  neutralise: boolean;
}

/** An extraction that is streamed. */
export type ExtractQuery = Pick<
  ExportRequest,
  'format' | 'kind' | 'filter' | 'profile' | 'neutralise' | 'after'
> & {
  /** Comma-separated keys. */
  types?: string;
  /** Comma-separated names. */
  columns?: string;
};

export interface StartedStream {
  name: string;
  mediaType: string;
  /** The feed position that the rows include. */
  position: string;
}

/** The export that a download as CSV stands for. */
export function csvRequest({ type, filter, profile, neutralise }: CsvQuery): ExportRequest {
  const query: ExtractQuery = { format: 'csv', kind: 'cards', filter, profile, neutralise };
  return extractRequest(type === undefined ? query : { ...query, types: type });
}

const listed = (text: string | undefined): string[] =>
  text
    ?.split(',')
    .map((part) => part.trim())
    .filter(Boolean) ?? [];

/** The export that a streamed extraction stands for. */
export function extractRequest({ types, columns, ...query }: ExtractQuery): ExportRequest {
  return { ...query, types: listed(types), columns: listed(columns), include: [] };
}

/**
 * Starts to write what an export stands for into `out`, from one snapshot, and answers as soon as the rows flow. A
 * failure on the way destroys `out`, so that the client sees a broken download and no short file.
 * @throws EstateError as {@link planExtraction}, before anything is written.
 */
export async function streamExport(
  services: Services,
  ctx: Ctx,
  request: ExportRequest,
  out: Writable,
): Promise<StartedStream> {
  const plan = await planExtraction(ctx, request);
  const noted = note(ctx, { ...request });
  const file = { name: exportName(request, new Date()), mediaType: mediaTypes[request.format] };
  return await stream(services, file, out, noted, async (snapshot) => {
    const position = await snapshotPosition(snapshot, request.after);
    const { write } = await prepareExtraction(snapshot, ctx, plan, position);
    return { position, write: () => write(out, {}) };
  });
}

/**
 * The same for cards as one JSON array.
 * @throws EstateError as {@link planJson}, before anything is written.
 */
export async function streamJson(
  services: Services,
  ctx: Ctx,
  query: JsonQuery,
  out: Writable,
): Promise<StartedStream> {
  const plan = await planJson(ctx, query);
  const noted = note(ctx, { format: 'json', ...query });
  const name = `estate-cards-${new Date().toISOString().slice(0, 10)}.json`;
  const file = { name, mediaType: 'application/json; charset=utf-8' };
  return await stream(services, file, out, noted, async (snapshot) => ({
    position: await snapshotPosition(snapshot),
    write: () => pump(jsonChunks(snapshot, ctx, plan), out, undefined),
  }));
}

/** Records that an extraction is streamed, which is to be known before its first row goes out. */
function note(ctx: Ctx, data: Record<string, unknown>): Promise<void> {
  const noted = command(ctx, async ({ emit }) => emit({ event_type: 'export.streamed', data }));
  // met by whoever waits for it
  noted.catch(() => undefined);
  return noted;
}

/**
 * Writes into `out` from one snapshot what `prepare` answers to write, and answers as soon as that begins. Rows are looked for
 * while the database makes the event durable, where a connection can be spared for that.
 */
async function stream(
  services: Services,
  file: { name: string; mediaType: string },
  out: Writable,
  noted: Promise<void>,
  prepare: (snapshot: Snapshot) => Promise<{ position: string; write: () => Promise<void> }>,
): Promise<StartedStream> {
  let flows = false;
  if (!hasSpare(services.db)) await noted;
  return await new Promise<StartedStream>((resolve, reject) => {
    withSnapshot(services.db, async (snapshot) => {
      const { position, write } = await prepare(snapshot);
      await noted;
      flows = true;
      resolve({ ...file, position });
      await write();
    }).catch((error: unknown) => {
      // answered before the rows flow, when nobody listens to the stream yet; noticed as a broken download after
      if (flows) out.destroy(error as Error);
      else reject(error);
    });
  });
}

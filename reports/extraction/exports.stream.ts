import type { Writable } from 'node:stream';
import { command } from '../../domain/command.ts';
import type { Ctx } from '../../domain/context.ts';
import type { ExportRequest } from '../../domain/jobs/kinds/export.ts';
import type { Services } from '../../domain/services.ts';
import { type Snapshot, withSnapshot } from '../../platform/snapshot.ts';
import { type JsonQuery, jsonChunks, planJson } from './extraction.json.ts';
import { exportName } from './extraction.names.ts';
import { planExtraction, snapshotPosition } from './extraction.plan.ts';
import { prepareExtraction } from './extraction.write.ts';
import { pump } from './writers/pump.ts';

export interface CsvQuery {
  /** Comma-separated card types. */
  type?: string;
  filter: string;
  profile: ExportRequest['profile'];
  neutralise: boolean;
}

export interface StartedStream {
  name: string;
  /** The feed position that the rows include. */
  position: string;
}

/** The export that a download as CSV stands for. */
export function csvRequest(query: CsvQuery): ExportRequest {
  const types =
    query.type
      ?.split(',')
      .map((type) => type.trim())
      .filter(Boolean) ?? [];
  return {
    format: 'csv',
    kind: 'cards',
    types,
    filter: query.filter,
    columns: [],
    include: [],
    profile: query.profile,
    neutralise: query.neutralise,
  };
}

/**
 * Starts to write cards as CSV into `out`, from one snapshot, and answers as soon as the rows flow. A failure on
 * the way destroys `out`, so that the client sees a broken download and no short file.
 * @throws EstateError as {@link planExtraction}, before anything is written.
 */
export async function streamCsv(
  services: Services,
  ctx: Ctx,
  query: CsvQuery,
  out: Writable,
): Promise<StartedStream> {
  const request = csvRequest(query);
  const plan = await planExtraction(ctx, request);
  await command(ctx, async ({ emit }) => {
    emit({
      event_type: 'export.streamed',
      data: { types: request.types, filter: query.filter, profile: query.profile },
    });
  });
  return await stream(services, exportName(request, new Date()), out, async (snapshot) => {
    const { write } = await prepareExtraction(snapshot, ctx, plan);
    return () => write(out, {});
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
  await command(ctx, async ({ emit }) => {
    emit({ event_type: 'export.streamed', data: { format: 'json', ...query } });
  });
  const name = `estate-cards-${new Date().toISOString().slice(0, 10)}.json`;
  return await stream(services, name, out, async (snapshot) => {
    return () => pump(jsonChunks(snapshot, ctx, plan), out, undefined);
  });
}

/** Writes into `out` from one snapshot what `prepare` answers to write, and answers as soon as that begins. */
async function stream(
  services: Services,
  name: string,
  out: Writable,
  prepare: (snapshot: Snapshot) => Promise<() => Promise<void>>,
): Promise<StartedStream> {
  return await new Promise<StartedStream>((resolve, reject) => {
    withSnapshot(services.db, async (snapshot) => {
      const position = await snapshotPosition(snapshot);
      const write = await prepare(snapshot);
      resolve({ name, position });
      await write();
    }).catch((error: unknown) => {
      // answered before the rows flow, noticed as a broken download after
      reject(error);
      out.destroy(error as Error);
    });
  });
}

import type { Writable } from 'node:stream';
import { command } from '../../domain/command.ts';
import type { Ctx } from '../../domain/context.ts';
import type { ExportRequest } from '../../domain/jobs/kinds/export.ts';
import type { Services } from '../../domain/services.ts';
import { withSnapshot } from '../../platform/snapshot.ts';
import { extractionTables, planExtraction, snapshotPosition } from './extraction.plan.ts';
import { exportName, writeTables } from './extraction.write.ts';

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
  const types =
    query.type
      ?.split(',')
      .map((type) => type.trim())
      .filter(Boolean) ?? [];
  const request: ExportRequest = {
    format: 'csv',
    kind: 'cards',
    types,
    filter: query.filter,
    columns: [],
    include: [],
    profile: query.profile,
    neutralise: query.neutralise,
  };
  const plan = await planExtraction(ctx, request);
  await command(ctx, async ({ emit }) => {
    emit({ event_type: 'export.streamed', data: { types, filter: query.filter, profile: query.profile } });
  });
  return await new Promise<StartedStream>((resolve, reject) => {
    withSnapshot(services.db, async (snapshot) => {
      const position = await snapshotPosition(snapshot);
      const tables = await extractionTables(snapshot, ctx, plan);
      resolve({ name: exportName(request, new Date()), position });
      await writeTables('csv', tables, out, { neutralise: query.neutralise });
    }).catch((error: unknown) => {
      // answered before the rows flow, noticed as a broken download after
      reject(error);
      out.destroy(error as Error);
    });
  });
}

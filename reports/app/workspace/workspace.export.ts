import { createHash } from 'node:crypto';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readShapes, schemaVersion, type TableShape } from '../../../domain/app/workspace/transfer.stage.ts';
import {
  type ArchivePart,
  blobName,
  FORMAT,
  FORMAT_VERSION,
  MANIFEST,
  type Manifest,
  rowsName,
} from '../../../domain/app/workspace/workspace.archive.ts';
import { type WorkspaceExport, workspaceExportJob } from '../../../domain/app/workspace/workspace.jobs.ts';
import { archiveId, exchangeIds } from '../../../domain/app/workspace/workspace.people.ts';
import { selectRows } from '../../../domain/app/workspace/workspace.select.ts';
import { portableSettings } from '../../../domain/app/workspace/workspace.settings.ts';
import {
  contentTable,
  contentTables,
  leftOut,
  PEOPLE,
  SETTINGS,
} from '../../../domain/app/workspace/workspace.tables.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { snapshotPosition } from '../../../domain/kernel/events/changes.ts';
import { type FileFacts, openContent, storeWritten } from '../../../domain/kernel/files/files.store.ts';
import { type StartedJob, startJob } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import type { JobResult, RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { readSetting, storedKey } from '../../../domain/kernel/settings/settings.read.ts';
import { appVersion } from '../../../domain/kernel/version.ts';
import type { BlobStore } from '../../../platform/blobs.ts';
import { EstateError } from '../../../platform/errors.ts';
import { type Snapshot, withSnapshot } from '../../../platform/snapshot.ts';
import { ZipFile } from '../../../platform/zip.ts';
import { type StartedFile, startStream } from '../../kernel/formats/chunk-streams.ts';
import { finishWithFile } from '../../kernel/report.result.ts';

const ZIP = 'application/zip';

/**
 * An archive contains costs, so that it also requires the right to see costs.
 * @throws EstateError `forbidden`.
 */
function requireRights({ caller }: Ctx): void {
  requirePermission(caller, 'admin.export_workspace');
  requirePermission(caller, 'costs.view');
}

const nameOf = (createdAt: Date): string => `estate-workspace-${createdAt.toISOString().slice(0, 10)}.zip`;

async function factsOf(
  { db }: Services,
  snapshot: Snapshot,
  { include_archived }: WorkspaceExport,
): Promise<ArchiveFacts> {
  return {
    shapes: await readShapes(db, contentTables),
    schema: await schemaVersion(db),
    position: await snapshotPosition(snapshot),
    sourceUrl: (await readSetting(db, 'email')).app_base_url || null,
    includeArchived: include_archived,
  };
}

/**
 * Starts to write the complete workspace from one snapshot; see {@link startStream}.
 * @throws EstateError `forbidden`, before anything is written.
 */
export async function streamWorkspace(
  services: Services,
  ctx: Ctx,
  request: WorkspaceExport,
): Promise<StartedFile> {
  requireRights(ctx);
  // the event must be durable before the first row is sent
  await command(ctx, async ({ emit }) =>
    emit({ event_type: 'export.streamed', data: { format: 'workspace', ...request } }),
  );
  return await startStream(ctx.caller, (out, start) =>
    withSnapshot(services.db, async (snapshot) => {
      const facts = await factsOf(services, snapshot, request);
      start({ name: nameOf(new Date()), mediaType: ZIP, position: facts.position, out });
      await writeArchive(snapshot, services.blobs, facts, out);
    }),
  );
}

/** Enqueues the export as a job. @throws EstateError `forbidden`. */
export async function startWorkspaceExport(ctx: Ctx, request: WorkspaceExport): Promise<StartedJob> {
  requireRights(ctx);
  return await startJob(ctx, workspaceExportJob, request, (id) => ({
    event_type: 'export.started',
    data: { ...request, format: 'workspace', export_job_id: id },
  }));
}

/** Writes the archive as the job's file. */
export async function runWorkspaceExport(
  job: RunningJob<WorkspaceExport>,
  services: Services,
): Promise<JobResult> {
  const { ctx, payload, signal } = job;
  requireRights(ctx);
  return await withSnapshot(services.db, async (snapshot) => {
    const facts = await factsOf(services, snapshot, payload);
    const { content, written: manifest } = await storeWritten(services.blobs, (out) =>
      writeArchive(snapshot, services.blobs, facts, out, signal),
    );
    const counts = Object.fromEntries(
      manifest.files.flatMap(({ kind, rows }) => (kind && rows ? [[kind, rows]] : [])),
    );
    const file: Omit<FileFacts, 'expiresAt'> = {
      name: nameOf(new Date()),
      mediaType: ZIP,
      ownerId: ctx.caller.userId,
      withCosts: true,
      needs: ['admin.export_workspace'],
    };
    return await finishWithFile(job, services, content, file, ({ size, sha256 }) => ({
      counts,
      result: {
        position: facts.position,
        format_version: manifest.format_version,
        include_archived: payload.include_archived,
        parts: manifest.files.length,
        size,
        sha256,
      },
    }));
  });
}

/** Parameters of an archive. */
interface ArchiveFacts {
  shapes: ReadonlyMap<string, TableShape>;
  schema: string;
  position: string;
  sourceUrl: string | null;
  includeArchived: boolean;
}

interface Person {
  id: string;
  email: string;
  display_name: string;
}

/** The settings in the archive. */
const SETTINGS_QUERY = `select row_to_json(x)::text from (
    select substr(t.key, ${storedKey('' as never).length + 1}) as key, t.value from settings t
    where t.key = any(?::text[]) order by t.key collate "C") x`;

/**
 * Streams a workspace into `out` as a zip file, part by part with little memory: rows as NDJSON, stored files unchanged, and
 * at the end the manifest, the only part that depends on this run. People have ids derived from their addresses, and the
 * archive only contains people to whom its rows refer.
 * @throws the signal's reason when aborted.
 */
async function writeArchive(
  snapshot: Snapshot,
  blobs: BlobStore,
  facts: ArchiveFacts,
  out: Writable,
  signal?: AbortSignal,
): Promise<Manifest> {
  const createdAt = new Date();
  const zip = new ZipFile();
  const sent = pipeline(zip.outputStream, out, { signal });
  // handled below, or when the last part is awaited
  sent.catch(() => undefined);
  const failed = new Promise<never>((_resolve, reject) => {
    zip.on('error', reject);
    sent.catch(reject);
  });
  failed.catch(() => undefined);
  const files: ArchivePart[] = [];
  const people = await snapshot.query<Person>('select id, email, display_name from users');
  const ids = new Map(people.map(({ id, email }) => [id, archiveId(email)]));
  const named = new Set<string>();

  const add = async (name: string, chunks: AsyncIterable<Buffer>): Promise<ArchivePart> => {
    const hash = createHash('sha256');
    let bytes = 0;
    async function* measured() {
      for await (const chunk of chunks) {
        signal?.throwIfAborted();
        hash.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    }
    const through = new PassThrough();
    // An import refuses parts that are compressed too well, and a stored file may contain anything.
    zip.addReadStream(through, name, { mtime: createdAt, compress: !name.startsWith('blobs/') });
    await Promise.race([pipeline(measured(), through), failed]);
    const part = { name, bytes, sha256: hash.digest('hex') };
    files.push(part);
    return part;
  };
  const addRows = async (
    kind: string,
    columns: string[],
    lines: AsyncIterable<{ bytes: Buffer; rows: number }>,
    each?: (text: string) => void,
  ): Promise<void> => {
    let rows = 0;
    async function* exchanged() {
      for await (const chunk of lines) {
        rows += chunk.rows;
        // the address of an erased account may contain its former id: rows of people are written unchanged
        const text =
          kind === PEOPLE || contentTable.get(kind)?.noPeople
            ? chunk.bytes.toString('utf8')
            : exchangeIds(chunk.bytes.toString('utf8'), ids, (id) => named.add(id));
        each?.(text);
        yield Buffer.from(text);
      }
    }
    Object.assign(await add(rowsName(kind), exchanged()), { kind, rows, columns });
  };

  try {
    const stored: string[] = [];
    for (const table of contentTables) {
      const shape = facts.shapes.get(table.table)!;
      const lines = snapshot.json(selectRows(table, shape, facts.includeArchived), []);
      const note = (text: string) => {
        for (const line of text.split('\n')) if (line) stored.push((JSON.parse(line) as { id: string }).id);
      };
      await addRows(table.table, shape.columns, lines, table.table === 'files' ? note : undefined);
    }
    const lines = snapshot.json(SETTINGS_QUERY, [portableSettings.map(storedKey)]);
    await addRows(SETTINGS, ['key', 'value'], lines);
    await addRows(PEOPLE, ['id', 'email', 'display_name'], linesOf(people, ids, named));
    for (const id of stored) {
      const content = await contentOf(blobs, id);
      if (content) await add(blobName(id), content);
    }
    const manifest: Manifest = {
      format: FORMAT,
      format_version: FORMAT_VERSION,
      service_version: appVersion,
      schema_version: facts.schema,
      position: facts.position,
      created_at: createdAt.toISOString(),
      source_url: facts.sourceUrl,
      include_archived: facts.includeArchived,
      files,
      left_out: Object.entries(leftOut).map(([table, why]) => ({ table, ...why })),
    };
    zip.addBuffer(Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`), MANIFEST, { mtime: createdAt });
    zip.end();
    await Promise.race([sent, failed]);
    return manifest;
  } catch (error) {
    (zip.outputStream as Readable).destroy(error as Error);
    out.destroy(error as Error);
    signal?.throwIfAborted();
    throw error;
  }
}

/** Rows of the people to whom the archive refers, in the order of their archive ids. */
async function* linesOf(people: Person[], ids: ReadonlyMap<string, string>, named: ReadonlySet<string>) {
  const rows = people
    .filter(({ id }) => named.has(id))
    .map(({ id, email, display_name }) => ({ id: ids.get(id)!, email: email.toLowerCase(), display_name }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const row of rows) yield { bytes: Buffer.from(`${JSON.stringify(row)}\n`), rows: 1 };
}

/** The content of a stored file; undefined if it is missing. */
async function contentOf(blobs: BlobStore, id: string): Promise<Readable | undefined> {
  try {
    return await openContent(blobs, id);
  } catch (error) {
    if (error instanceof EstateError && error.code === 'not_found') return undefined;
    throw error;
  }
}

import { randomUUID } from 'node:crypto';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import yauzl from 'yauzl';
import type { BlobInfo, BlobStore } from '../../../platform/blobs.ts';
import type { Sql } from '../../../platform/database.ts';
import { EstateError, isStorageFull, notFound } from '../../../platform/errors.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import type { AppPermission } from '../permissions/permissions.data.ts';
import { forbidden, heldOf, may, requirePermission } from '../permissions/policy.ts';

/** What is known of a stored file besides its content. */
export interface FileFacts {
  /** The name under which it is downloaded. */
  name: string;
  mediaType: string;
  /** Null for files of the service itself. */
  ownerId: string | null;
  /** Whether cost values may are in it: then only those who may see costs open it. */
  withCosts: boolean;
  /** The permissions by which its content was read: anyone who lacks one does not open it, its owner neither. */
  needs: readonly AppPermission[];
  /** The ids of the owner's stakeholder roles by which its content was read: the owner who lost one does not open it. */
  roles?: readonly string[];
  /** Null keeps it. */
  expiresAt: Date | null;
}

export interface StoredFile extends FileFacts {
  id: string;
  /** Bytes. */
  size: number;
  /** Hexadecimal. */
  sha256: string;
}

interface FileRow {
  id: string;
  name: string;
  media_type: string;
  size: number;
  sha256: string;
  owner_id: string | null;
  with_costs: boolean;
  needs: AppPermission[];
  roles: string[];
  expires_at: Date | null;
}

/** A content that is stored but not yet recorded as a file: without `recordFile` it is cleaned away in a day. */
export interface StoredContent extends BlobInfo {
  id: string;
}

/** Stores a content, whole or not at all. */
export async function storeContent(blobs: BlobStore, content: Readable): Promise<StoredContent> {
  const id = randomUUID();
  return { id, ...(await blobs.put(id, content)) };
}

/**
 * Stores what is written, whole or not at all, and answers it with what the writer answers.
 * @throws what `write` throws, which must end the stream otherwise.
 */
export async function storeWritten<T>(
  blobs: BlobStore,
  write: (out: Writable) => Promise<T>,
): Promise<{ content: StoredContent; written: T }> {
  const out = new PassThrough();
  const stored = storeContent(blobs, out);
  // it may fail before anybody waits for it, as when the job is cancelled
  stored.catch(() => undefined);
  try {
    const written = await write(out);
    return { content: await stored, written };
  } catch (error) {
    out.destroy(error as Error);
    // what the store met may reach the writer only as a stream that ended too early
    await stored.catch((met) => {
      if (isStorageFull(met)) throw met;
    });
    throw error;
  }
}

/**
 * The rights by which the caller reads what a file will contain. Called before the reading, so that a right that is lost
 * meanwhile closes the file.
 * @param permissions those which decide what the file contains.
 */
export async function rightsOfFile(
  { db, caller }: Ctx,
  ...permissions: AppPermission[]
): Promise<Pick<FileFacts, 'ownerId' | 'withCosts' | 'needs' | 'roles'>> {
  const byRole = !may(caller, 'inventory.view') || !may(caller, 'costs.view');
  return {
    ownerId: caller.userId,
    withCosts: may(caller, 'costs.view'),
    needs: heldOf(caller, ...permissions),
    roles: byRole ? await db('stakeholders').where({ user_id: caller.userId }).pluck('id') : [],
  };
}

/** Makes a stored content a file, with the caller's transaction. */
export async function recordFile(sql: Sql, content: StoredContent, facts: FileFacts): Promise<StoredFile> {
  await sql('files').insert({
    id: content.id,
    name: facts.name,
    media_type: facts.mediaType,
    size: content.size,
    sha256: content.sha256,
    owner_id: facts.ownerId,
    with_costs: facts.withCosts,
    needs: [...facts.needs],
    roles: [...(facts.roles ?? [])],
    expires_at: facts.expiresAt,
  });
  return { ...facts, ...content };
}

/** Stores a content and records it at once, for callers without a transaction of their own. */
export async function storeFile(
  store: { db: Sql; blobs: BlobStore },
  content: Readable,
  facts: FileFacts,
): Promise<StoredFile> {
  return await recordFile(store.db, await storeContent(store.blobs, content), facts);
}

/**
 * The facts of a file that the caller may read: its owner, or anyone who may export the whole workspace; and never
 * without the permissions by which it was made, `costs.view` among them where it may hold costs.
 * @param own whether what made the file is the caller's own, within the scopes of the presented token.
 * @throws EstateError `not_found` when there is none or it has expired, `forbidden`.
 */
export async function readFile(ctx: Ctx, id: string, own: boolean): Promise<StoredFile> {
  const row: FileRow | undefined = await ctx
    .db('files')
    .where({ id })
    .whereRaw('(expires_at is null or expires_at > now())')
    .first();
  if (!row) throw notFound('file', id);
  if (!(own && row.owner_id === ctx.caller.userId) && !may(ctx.caller, 'admin.export_workspace')) {
    throw forbidden('admin.export_workspace');
  }
  if (row.with_costs && !may(ctx.caller, 'costs.view')) throw forbidden('costs.view');
  for (const permission of row.needs) requirePermission(ctx.caller, permission);
  if (row.roles.length > 0 && row.owner_id === ctx.caller.userId) await requireRoles(ctx, row.roles);
  return {
    id: row.id,
    name: row.name,
    mediaType: row.media_type,
    size: row.size,
    sha256: row.sha256,
    ownerId: row.owner_id,
    withCosts: row.with_costs,
    needs: row.needs,
    expiresAt: row.expires_at,
  };
}

/** @throws EstateError `forbidden` when a stakeholder role by which a file was made is lost, and nothing else shows it. */
async function requireRoles(ctx: Ctx, roles: readonly string[]): Promise<void> {
  const lacking = (['inventory.view', 'costs.view'] as const).find((one) => !may(ctx.caller, one));
  if (lacking === undefined) return;
  const held = await ctx
    .db('stakeholders')
    .where({ user_id: ctx.caller.userId })
    .whereIn('id', roles)
    .pluck('id');
  if (held.length < roles.length) throw forbidden(lacking);
}

/**
 * The content of a file, whole or the bytes `start` to `end` (both included).
 * @throws EstateError `not_found` when the content is gone.
 */
export async function openContent(
  blobs: BlobStore,
  id: string,
  range?: { start: number; end: number },
): Promise<Readable> {
  try {
    return await blobs.get(id, range);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new EstateError('not_found', `The content of the file ${id} is gone.`, { cause: error });
  }
}

/**
 * Records in the audit log who has fetched a file that was made, whole or in part.
 * @param maker what has made it.
 */
export async function noteDownload(
  ctx: Ctx,
  maker: { job_id: string } | { run_id: string },
  file: StoredFile,
  range: { start: number; end: number } | undefined,
): Promise<void> {
  await command(ctx, async ({ emit }) => {
    emit({
      event_type: 'file.downloaded',
      data: {
        ...maker,
        file_id: file.id,
        name: file.name,
        size: file.size,
        sha256: file.sha256,
        ...(range ? { range } : {}),
      },
    });
  });
}

/** Reads ranges of a stored file, as the unpacking of an archive asks for them. */
export class StoredRanges extends yauzl.RandomAccessReader {
  readonly #blobs: BlobStore;
  readonly #id: string;

  constructor(blobs: BlobStore, id: string) {
    super();
    this.#blobs = blobs;
    this.#id = id;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    if (start === end) return Readable.from([]);
    const out = new PassThrough();
    openContent(this.#blobs, this.#id, { start, end: end - 1 })
      .then((range) => pipeline(range, out))
      .catch((error) => out.destroy(error as Error));
    return out;
  }
}

import { Readable } from 'node:stream';
import { embed, query } from '../../../platform/database.ts';
import type { UserRow } from '../../access/users.model.ts';
import { insertUser } from '../../access/users.store.ts';
import { rescoreCards } from '../../inventory/cards/cards.save.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differingMembers } from '../../kernel/events/row-changes.ts';
import type { StoredImage } from '../../kernel/settings/settings.definition.ts';
import {
  SETTINGS_TOPIC,
  type SettingKey,
  type SettingValues,
  storedKey,
} from '../../kernel/settings/settings.read.ts';
import { followApprovers } from '../../modelling/bpm/flow.approvers.ts';
import { showProcessTypes } from '../settings/settings.bpm.ts';
import { exchangeImages, lockSettings, writeSetting } from '../settings/settings.change.ts';
import { signedDocumentError } from './transfer.check.ts';
import {
  type Applying,
  type Page,
  RowRefused,
  readPage,
  type WrittenRow,
  writePlain,
  writeRows,
} from './transfer.write.ts';
import { blobName } from './workspace.archive.ts';
import { portableErrors } from './workspace.settings.ts';

interface StagedRow {
  line: number;
  content: Record<string, unknown>;
}

async function staged(work: Work, applying: Applying, kind: string, lines: number[]): Promise<StagedRow[]> {
  return await query(work.sql).rows`select line, content from workspace_transfer_rows
     where transfer_id = ${applying.job.payload.transfer_id}::uuid and kind = ${kind}
     and line = any(${lines}::integer[]) order by line`;
}

/**
 * Creates the accounts that rows of the archive reference and that do not exist here: without a password, with the
 * default role, and deactivated until an administrator activates them.
 */
export async function writePeople(applying: Applying, work: Work, lines: number[]): Promise<void> {
  const role = await work.sql('roles').where({ is_default: true }).first('key');
  if (!role)
    throw new RowRefused([{ field: 'role', code: 'required', message: 'There is no default role.' }]);
  const rows = await staged(work, applying, 'users', lines);
  const ids = rows.map(({ content }) => content.id as string);
  const known = new Set(await work.sql('users').whereIn('id', ids).pluck('id'));
  for (const { content } of rows) {
    const { id, email, display_name } = content as Pick<UserRow, 'id' | 'email' | 'display_name'>;
    if (!known.has(id)) await insertUser(work, { id, email, display_name, role: role.key, is_active: false });
  }
}

/** Writes settings. */
export async function writeSettings(
  applying: Applying,
  work: Work,
  ctx: Ctx,
  lines: number[],
): Promise<void> {
  for (const { content } of await staged(work, applying, 'settings', lines)) {
    const key = content.key as SettingKey;
    const errors = portableErrors(key, content.value, { metamodel: work.metamodel, roles: new Set() });
    if (errors.length > 0) throw new RowRefused(errors);
    const settings = await lockSettings(work.sql);
    const value = content.value as SettingValues[SettingKey];
    if (key === 'logo' || key === 'favicon') {
      if (!(await exchangeImages(work.sql, settings.values[key], value as StoredImage | null))) {
        throw new RowRefused([{ field: key, code: 'content_missing', message: 'The picture is not here.' }]);
      }
    }
    const same = Object.keys(differingMembers({ value: settings.values[key] }, { value })).length === 0;
    if (same) {
      // A stored value, even if it equals the default.
      const data = { key: storedKey(key), value: JSON.stringify(value), updated_by: ctx.caller.userId };
      await work.sql('settings').insert(data).onConflict('key').ignore();
      work.raise(SETTINGS_TOPIC);
      continue;
    }
    await writeSetting(work, ctx, settings, key, value);
    if (key === 'bpm_enabled') await showProcessTypes(work, ctx, value as boolean, true);
  }
}

/** Stores the contents of files before the rows that reference them; storing a content twice has no effect. */
export async function storeContents({ services, archive, job }: Applying, ids: string[]): Promise<void> {
  const known = new Set(await services.db('files').whereIn('id', ids).pluck('id'));
  for (const id of ids) {
    job.signal.throwIfAborted();
    // A content that is in use is never replaced.
    if (known.has(id)) continue;
    const part = archive.part(blobName(id));
    if (!part)
      throw new RowRefused([
        { field: '', code: 'content_missing', message: 'The archive has no content of it.' },
      ]);
    await services.blobs.put(id, Readable.from(archive.read(part), { objectMode: false }));
  }
}

/** Writes files whose contents are stored. They have no events of their own. */
export async function writeFiles(page: Page): Promise<void> {
  await writeRows(page, await readPage(page));
}

/*
 * Signatures and approvals requested from users. Imported accounts are inactive, and other users may lack the rights
 * here: open requests to them are reassigned or closed in the transaction that writes them.
 */

/** Writes documents with signatures. @throws RowRefused if a document was signed here meanwhile. */
export async function writeSigned(page: Page): Promise<void> {
  const rows = await readPage(page);
  if (rows.some(({ before }) => before?.status === 'signed')) throw new RowRefused([signedDocumentError]);
  const requested = (await writePlain(page, rows))
    .filter(({ after }) => after.status === 'in_review')
    .flatMap(({ after }) => (after.signatories as { user_id: string }[]).map(({ user_id }) => user_id));
  await page.work.extensions.userRightsChanged(page.work, page.ctx, [...new Set(requested)]);
}

/** Writes rows of cards whose approvers may change with them; pending flows are assigned to users who may approve them. */
export const writeWithApprovers =
  (card: 'card_id' | 'process_id') =>
  async (page: Page): Promise<void> =>
    followApprovers(page.work, idsOf(await writePlain(page), card));

/**
 * Writes to-dos. To-dos of the service are reassigned if their assignee lacks the rights, and stay open while their
 * object is pending.
 */
export async function writeTodos(page: Page): Promise<void> {
  const requested = (await writePlain(page)).filter(({ after }) => after.is_system === true);
  const assignees = [
    ...idsOf(requested, 'assigned_to'),
    ...requested.map(({ before }) => before?.assigned_to as string),
  ];
  await page.work.extensions.userRightsChanged(page.work, page.ctx, [...new Set(assignees.filter(Boolean))]);
}

const idsOf = (written: readonly WrittenRow[], column: string): string[] => [
  ...new Set(written.flatMap(({ after }) => (after[column] as string | null) ?? [])),
];

/** Cards of a page. */
const PAGE = 500;

/**
 * Recomputes the data quality of all cards that the archive has written or attached something to: it may differ in a workspace with
 * other tags, relations and stakeholders.
 */
export async function rescoreImported({ job, services }: Applying): Promise<void> {
  const { ctx, payload, signal } = job;
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    signal.throwIfAborted();
    const rows = await query(services.db).rows`with touched as (
         select case kind when 'cards' then content ->> 'id' else content ->> 'card_id' end as id
         from workspace_transfer_rows where transfer_id = ${payload.transfer_id}::uuid and done
         and kind in ('cards', 'card_tags', 'stakeholders')
         union
         select unnest(array[content ->> 'source_id', content ->> 'target_id'])
         from workspace_transfer_rows where transfer_id = ${payload.transfer_id}::uuid and done
         and kind = 'relations'
       )
       select id from touched where id > ${after} order by id limit ${embed(PAGE)}`;
    if (rows.length === 0) return;
    const ids = rows.map(({ id }: { id: string }) => id);
    await command(ctx, async (work) => {
      await rescoreCards(work, ctx, ids);
      await job.checkpoint(work, { message: 'Computing the data quality' });
    });
    after = ids.at(-1)!;
  }
}

import { EstateError, invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import type { SourceType } from './source.types.ts';

/** A kind of file that can be migrated from. */
export interface MigrationSource {
  key: SourceType;
  label: string;
  /** Of the file's name, with the dot. */
  accepted_extensions: string[];
}

/** The supported sources. */
const sources: readonly MigrationSource[] = [
  { key: 'leanix', label: 'LeanIX snapshot', accepted_extensions: ['.xlsx'] },
  { key: 'sheet', label: 'Workbook or table', accepted_extensions: ['.xlsx', '.csv', '.tsv'] },
];

const sourceList: ListSpec = {
  name: 'migration-sources',
  from: `jsonb_to_recordset('${JSON.stringify(sources)}'::jsonb) as s(key text, label text, accepted_extensions jsonb)`,
  id: 's.key',
  idType: 'text',
  sorts: {
    key: { sql: 's.key', type: 'text', filled: true, immutable: true },
    label: { sql: 'lower(s.label)', type: 'text', filled: true, immutable: true },
  },
  defaultSort: 'key',
  search: 'fold(s.label)',
  members: { key: 's.key', label: 's.label', accepted_extensions: 's.accepted_extensions' },
};

/** The supported sources as a list. @throws EstateError `forbidden`. */
export async function listSources(ctx: Ctx, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.migrate');
  return await runList(ctx, sourceList, [], params);
}

/** The source with the key. @throws EstateError `validation_failed` naming `source_key`. */
export function requireSource(key: string): MigrationSource {
  const source = sources.find((one) => one.key === key);
  if (source) return source;
  const known = sources.map((one) => one.key).join(', ');
  throw invalidField('source_key', 'unknown_source', `is none of ${known}`);
}

/** The extension of a file's name, which the source must support. @throws EstateError `unsupported_media_type`. */
export function requireExtension(source: MigrationSource, fileName: string): string {
  const ending = /\.[a-z0-9]+$/i.exec(fileName)?.[0].toLowerCase();
  if (ending !== undefined && source.accepted_extensions.includes(ending)) return ending;
  throw new EstateError(
    'unsupported_media_type',
    `${source.label}: the file's name ends in one of ${source.accepted_extensions.join(', ')}.`,
  );
}

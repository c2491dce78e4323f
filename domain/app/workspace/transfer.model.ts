import Type, { type Static } from 'typebox';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, NullableText, object, Timestamp, Uuid } from '../../kernel/shapes.ts';

const Count = (description: string) => Type.Integer({ minimum: 0, description });

const KindCounts = object({
  create: Count('New here'),
  update: Count('Existing rows with other values'),
  unchanged: Count('Existing rows with the same values'),
  conflict: Count('Left alone'),
});
/** Rows of a kind by action. */
export type KindCounts = Static<typeof KindCounts>;
/** What an import does with a row. */
export type RowAction = keyof KindCounts;

const counts = {
  kinds: Type.Record(Type.String(), KindCounts, { description: 'By the table of the rows' }),
  totals: KindCounts,
};

/** Maximum skipped rows in a diff or a result. */
export const MAX_NAMED = 1_000;

const SkippedRows = Type.Array(
  object({
    kind: Type.String(),
    key: Type.String(),
    // absent in transfers that an earlier version has read
    line: Type.Optional(Type.Integer({ minimum: 1, description: 'The line in `content/<kind>.ndjson`' })),
    field: Type.Optional(NullableText('The invalid column')),
    code: Type.String(),
    message: Type.String(),
  }),
  { description: 'The first 1,000 skipped rows, with the reason' },
);
/** A skipped row in a report. */
export type SkippedRow = Static<typeof SkippedRows>[number];

/** Why a row is skipped; `field` is the invalid column, if it is one. */
export type Reason = Pick<SkippedRow, 'code' | 'message' | 'field'>;

const TransferDiff = object(
  {
    ...counts,
    conflicts: SkippedRows,
    source: object({
      service_version: Type.String(),
      schema_version: Type.String(),
      position: Type.String(),
      created_at: Type.String(),
    }),
    include_archived: Type.Boolean(),
  },
  { description: 'What the archive would change' },
);
/** What an archive would change; `source` is from its manifest. */
export type TransferDiff = Static<typeof TransferDiff>;

const TransferResult = object({ ...counts, left: SkippedRows }, { description: 'The result of the import' });
/** The result of applying an archive. */
export type TransferResult = Static<typeof TransferResult>;

/** The import of a workspace archive. */
export class WorkspaceTransfer extends rowModel('workspace_transfers', {
  id: Uuid,
  filename: Type.String(),
  status: Choice(
    ['parsing', 'previewed', 'applying', 'applied', 'failed'],
    '`parsing` -> `previewed` -> `applying` -> `applied`, or `failed`',
  ),
  format_version: Nullable(Type.String()),
  source_url: NullableText('The URL of the source workspace, as stated in the archive'),
  file_id: Uuid,
  job_id: Nullable(Uuid),
  diff: Nullable(TransferDiff),
  result: Nullable(TransferResult),
  error_message: Nullable(Type.String()),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  previewed_at: Nullable(Timestamp),
  applied_at: Nullable(Timestamp),
}) {}
export type TransferRow = RowOf<typeof WorkspaceTransfer>;

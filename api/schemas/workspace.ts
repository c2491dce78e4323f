import Type from 'typebox';
import { transferStatuses } from '../../domain/app/workspace/transfer.types.ts';
import { Nullable, object, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

export const TransferParams = object({ transfer_id: Uuid });

export const TransferForm = object({
  file: Type.String({ contentMediaType: 'application/zip', description: 'The archive' }),
});

const Counts = object({
  create: Type.Integer({ minimum: 0, description: 'New here' }),
  update: Type.Integer({ minimum: 0, description: 'Existing rows with other values' }),
  unchanged: Type.Integer({ minimum: 0, description: 'Existing rows with the same values' }),
  conflict: Type.Integer({ minimum: 0, description: 'Left alone' }),
});
const ByKind = Type.Record(Type.String(), Counts, { description: 'By the table of the rows' });
const Left = Type.Array(
  object({
    kind: Type.String(),
    key: Type.String(),
    // absent in transfers that an earlier version has read
    line: Type.Optional(Type.Integer({ minimum: 1, description: 'The line in `content/<kind>.ndjson`' })),
    field: Type.Optional(Nullable(Type.String({ description: 'The invalid column' }))),
    code: Type.String(),
    message: Type.String(),
  }),
  { description: 'The first 1,000 skipped rows, with the reason' },
);

export const WorkspaceTransferSchema = Type.Object(
  {
    id: Uuid,
    filename: Type.String(),
    status: Type.Union(
      transferStatuses.map((status) => Type.Literal(status)),
      { description: '`parsing` -> `previewed` -> `applying` -> `applied`, or `failed`' },
    ),
    format_version: Nullable(Type.String()),
    source_url: Nullable(
      Type.String({ description: 'The URL of the source workspace, as stated in the archive' }),
    ),
    diff: Nullable(
      Type.Object(
        {
          kinds: ByKind,
          totals: Counts,
          conflicts: Left,
          source: object({
            service_version: Type.String(),
            schema_version: Type.String(),
            position: Type.String(),
            created_at: Type.String(),
          }),
          include_archived: Type.Boolean(),
        },
        { additionalProperties: false, description: 'What the archive would change' },
      ),
    ),
    result: Nullable(
      Type.Object(
        { kinds: ByKind, totals: Counts, left: Left },
        { additionalProperties: false, description: 'The result of the import' },
      ),
    ),
    error_message: Nullable(Type.String()),
    job_id: Nullable(Uuid),
    created_at: Timestamp,
    previewed_at: Nullable(Timestamp),
    applied_at: Nullable(Timestamp),
  },
  { $id: 'WorkspaceTransfer', additionalProperties: false },
);

const counts = { create: 312, update: 2, unchanged: 240, conflict: 1 };

export const transferExample = {
  id: '0192f0c1-7b7e-7cc0-9d3e-2f6f4b1c5a10',
  filename: 'estate-workspace-2026-01-31.zip',
  status: 'previewed',
  format_version: '1.0',
  source_url: null,
  diff: {
    kinds: { cards: counts },
    totals: counts,
    conflicts: [
      {
        kind: 'cards',
        key: 'Application/Payroll',
        line: 17,
        field: null,
        code: 'taken:cards_sibling_name',
        message: 'another card here has it already: Application/APP-1',
      },
    ],
    source: {
      service_version: '0.1.0',
      schema_version: '0001-baseline',
      position: '4821',
      created_at: '2026-01-31T08:00:00.000Z',
    },
    include_archived: false,
  },
  result: null,
  error_message: null,
  job_id: '0192f0c1-7b7e-7cc0-9d3e-2f6f4b1c5a11',
  created_at: '2026-01-31T08:01:00.000Z',
  previewed_at: '2026-01-31T08:01:04.000Z',
  applied_at: null,
};

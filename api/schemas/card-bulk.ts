import Type from 'typebox';
import { closed, Nullable, OpenObject, Uuid } from '../../domain/kernel/shapes.ts';
import { CardPatchBody, ClearableText, cardValues, Name, removal } from './card-bodies.ts';

const MAX_CARDS = 10_000;
const MAX_ROWS = 2_000;
const MAX_REFS = 5_000;

const Ids = (description: string) =>
  Type.Array(Uuid, {
    minItems: 1,
    maxItems: MAX_CARDS,
    description: `${description}; repeated ones count once`,
  });
const DryRun = Type.Boolean({ default: false, description: 'Answers the same and writes nothing' });
const Count = Type.Integer({ minimum: 0 });
const IdList = (description: string) => Type.Array(Uuid, { description });
const RowIndex = Type.Integer({ description: "The caller's own number, given back with the result" });
const oneOf = <T extends string>(...values: T[]) => {
  const literals = values.map((value) => Type.Literal(value));
  return literals.length === 1 ? literals[0]! : Type.Union(literals);
};

export const CardBulkPatchBody = Type.Object(
  { ids: Ids('Cards'), updates: CardPatchBody, dry_run: DryRun },
  closed,
);

export const CardBulkPatchAnswer = Type.Object(
  {
    dry_run: Type.Boolean(),
    results: Type.Array(
      Type.Object(
        {
          row_index: Type.Integer({ description: 'The place of the id in the request, from 0' }),
          card_id: Uuid,
          status: oneOf('updated', 'would_update', 'unchanged', 'not_found'),
          id: Nullable(Uuid),
          before: Type.Record(Type.String(), Type.Unknown(), { description: 'What has changed, as it was' }),
          after: OpenObject,
        },
        closed,
      ),
    ),
    updated: Count,
    would_update: Count,
  },
  { $id: 'CardBulkPatchAnswer', ...closed },
);

const { status: _, approval_status: __, ...creatable } = cardValues;
const PathStep = Type.String({ minLength: 1, maxLength: 500 });

export const CardBulkCreateBody = Type.Object(
  {
    cards: Type.Array(
      Type.Object(
        {
          row_index: RowIndex,
          type: Type.String({ minLength: 1, maxLength: 100 }),
          name: Name,
          ...creatable,
          parent_path: Type.Optional(
            Type.Unsafe<string[] | null>({
              type: ['array', 'null'],
              items: PathStep,
              maxItems: 100,
              description:
                'Names from the root down to the parent, or, with `parent_name`, down to the parent of that; stored cards or earlier rows',
            }),
          ),
          parent_name: ClearableText({ maxLength: 500, description: 'The name of the parent' }),
          approval_status: Type.Optional(
            Type.Unsafe<'DRAFT' | 'APPROVED' | 'REJECTED' | 'BROKEN' | null>({
              type: ['string', 'null'],
              enum: ['DRAFT', 'APPROVED', 'REJECTED', 'BROKEN', null],
              description: 'Taken as it is; another than `DRAFT` needs inventory.approval_status',
            }),
          ),
        },
        closed,
      ),
      { minItems: 1, maxItems: MAX_ROWS },
    ),
    dry_run: DryRun,
  },
  closed,
);

export const CardBulkCreateAnswer = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          row_index: RowIndex,
          status: oneOf('created', 'failed'),
          id: Nullable(Uuid),
          error: Nullable(Type.String()),
          code: Nullable(Type.String()),
        },
        closed,
      ),
    ),
    created: Count,
    failed: Count,
    dry_run: Type.Boolean(),
  },
  { $id: 'CardBulkCreateAnswer', ...closed },
);

const { related_card_ids: ___, ...bulkRemoval } = removal;

export const CardBulkRemovalBody = Type.Object(
  { card_ids: Ids('Cards'), ...bulkRemoval, dry_run: DryRun },
  closed,
);

export const CardBulkRestoreBody = Type.Object({ card_ids: Ids('Archived cards'), dry_run: DryRun }, closed);

const Skipped = (...reasons: string[]) =>
  Type.Array(Type.Object({ card_id: Uuid, reason: oneOf(...reasons) }, closed));
const affected = {
  cascaded_card_ids: IdList('Cards below these, and related ones, that went too'),
  moved_card_ids: IdList('Cards that got another parent'),
};

export const CardBulkArchiveAnswer = Type.Object(
  {
    requested: Count,
    archived_card_ids: IdList('Of those that were asked for'),
    ...affected,
    skipped: Skipped('already_archived', 'not_found'),
    dry_run: Type.Boolean(),
  },
  { $id: 'CardBulkArchiveAnswer', ...closed },
);

export const CardBulkDeleteAnswer = Type.Object(
  {
    requested: Count,
    deleted_card_ids: IdList('Of those that were asked for'),
    ...affected,
    skipped: Skipped('not_found'),
    dry_run: Type.Boolean(),
  },
  { $id: 'CardBulkDeleteAnswer', ...closed },
);

export const CardBulkRestoreAnswer = Type.Object(
  {
    requested: Count,
    restored_card_ids: IdList('Of those that were asked for'),
    skipped: Skipped('already_active', 'not_found'),
    dry_run: Type.Boolean(),
  },
  { $id: 'CardBulkRestoreAnswer', ...closed },
);

export const CardRefsBody = Type.Object(
  {
    refs: Type.Array(
      Type.Object(
        {
          row: Type.Integer({
            description: "The caller's own place of the reference, given back with the result",
          }),
          column: Type.String({ maxLength: 500 }),
          type: Type.String({ minLength: 1, maxLength: 100 }),
          ref: Type.String({
            maxLength: 10_000,
            description:
              '`Name`, or `Parent / Name` with any number of ancestors; `\\/` and `\\\\` are those characters',
          }),
        },
        closed,
      ),
      { maxItems: MAX_REFS },
    ),
  },
  closed,
);

export const CardRefsAnswer = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          row: Type.Integer(),
          column: Type.String(),
          status: oneOf('resolved', 'ambiguous', 'missing'),
          id: Nullable(Uuid),
          candidates: Nullable(
            Type.Array(Type.Object({ id: Uuid, path: Type.String() }, closed), {
              description: 'The first five that an ambiguous reference may mean, each with its whole path',
            }),
          ),
        },
        closed,
      ),
    ),
  },
  { $id: 'CardRefsAnswer', ...closed },
);

import type { TProperties } from 'typebox';
import { embed, query, type Sql } from '../../../platform/database.ts';
import type { CardWithAccess } from '../../collaboration/cards.access.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventDraft } from '../../kernel/events/events.types.ts';
import { rowEvent } from '../../kernel/events/row-changes.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import type { ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import type { RowModel } from '../../kernel/resources/rows.ts';

/** What the rows of all kinds have. */
export interface PpmRow {
  id: string;
  /** The initiative. */
  card_id: string;
  [column: string]: unknown;
}

/** A command that writes rows of an initiative, which is locked. */
export interface PpmScope {
  work: Work;
  ctx: Ctx;
  initiative: CardWithAccess;
}

/** A write to a row; `before` is null for a new row. */
export interface PpmWrite<Row extends PpmRow = PpmRow> extends PpmScope {
  before: Row | null;
}

/** A write that has been executed; `after` is null when the row was deleted. */
export interface PpmChange<Row extends PpmRow = PpmRow> extends PpmWrite<Row> {
  after: Row | null;
}

type Members = ListSpec['members'];

/** One kind of rows that initiatives have: what its commands, lists and events need, declared once. */
export interface PpmKind<Row extends PpmRow = PpmRow> {
  model: RowModel;
  /** The first part of its event types. */
  entity:
    | 'ppm_report'
    | 'ppm_cost_line'
    | 'ppm_budget_line'
    | 'ppm_risk'
    | 'ppm_wbs'
    | 'ppm_task'
    | 'ppm_task_comment'
    | 'ppm_dependency';
  /** What messages call it. */
  what: string;
  /** How many an initiative may have; absent where something else limits them. */
  limit?: number;
  /** Columns that hold costs; only users who see the initiative's costs may write such rows. */
  costs?: readonly string[];
  /** Writes lock the initiative exclusively, because rows depend on each other. */
  exclusive?: true;
  /** Members of its events besides the id. */
  eventMembers?: readonly string[];
  /** The sort fields of its list besides `created_at`. */
  sorts?: Readonly<Record<string, SortField>>;
  /** `created_at` by default. */
  defaultSort?: string;
  defaultDir?: 'desc';
  search?: string;
  /** The query parameters of its list, each the value of a column. */
  filters?: TProperties;
  /** Columns that answers do not show. */
  hidden?: readonly string[];
  /** The members of its list besides the columns. */
  members?(sql: Sql, ctx: Ctx, cardId: string): Members | Promise<Members>;
  /** @throws EstateError where the caller may write rows of the kind, but not this one. */
  authorize?(row: Row, ctx: Ctx): void;
  /**
   * Checks the columns that are to be written; may change them.
   * @throws EstateError `validation_failed`.
   */
  check?(values: Partial<Row>, write: PpmWrite<Row>): Promise<void> | void;
  /** Deletes what depends on a row that is about to be deleted, with an event for each row. */
  beforeDelete?(row: Row, write: PpmWrite<Row>): Promise<void>;
  /** Writes derived values before the event of the change, because undo runs backwards. */
  afterWrite?(change: PpmChange<Row>): Promise<void>;
}

const CREATED: Record<string, SortField> = {
  created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
};

/** The sort fields of a kind's list. */
export const ppmSorts = ({ sorts }: PpmKind): Record<string, SortField> => ({ ...sorts, ...CREATED });

type Columns = Pick<PpmKind, 'model' | 'hidden'>;

/** The columns of a kind that answers show; the card is called the initiative. */
export function ppmColumns({ model, hidden = [] }: Columns): TProperties {
  return Object.fromEntries(
    Object.entries(model.columns)
      .filter(([column]) => !hidden.includes(column))
      .map(([column, schema]) => [column === 'card_id' ? 'initiative_id' : column, schema]),
  );
}

/** These columns as members of a list. */
export function ppmMembers(kind: Columns): Record<string, string> {
  const { initiative_id, ...members } = columnMembers('t', { columns: ppmColumns(kind) });
  return initiative_id === undefined ? members : { ...members, initiative_id: 't.card_id' };
}

/** The list of a kind, over the alias `t`. */
export async function ppmList(sql: Sql, ctx: Ctx, kind: PpmKind, cardId: string): Promise<ListSpec> {
  const { model, entity, defaultSort = 'created_at', defaultDir = 'asc', search } = kind;
  return {
    name: entity,
    from: `${model.tableName} t`,
    id: 't.id',
    sorts: ppmSorts(kind),
    defaultSort,
    defaultDir,
    ...(search ? { search } : {}),
    members: { ...ppmMembers(kind), ...(await kind.members?.(sql, ctx, cardId)) },
  };
}

/** The name of the user in a column, over the alias `t`. */
export const nameOf = (column: string): string =>
  `(select u.display_name from users u where u.id = t.${column})`;

/** How many rows of a table have a value in a column. */
export async function countRows(
  sql: Sql,
  { tableName }: RowModel,
  where: Partial<Record<'card_id' | 'task_id', string>>,
): Promise<number> {
  const [column, value] = Object.entries(where)[0]!;
  const [row] = await query(sql).rows<{ n: number }>`select count(*)::int as n from ${embed(tableName)}
    where ${embed(column)} = ${value}::uuid`;
  return row!.n;
}

/** The event of one written row, in the history of its initiative. Without `before` it was created, without `after` deleted. */
export function ppmEvent(
  { entity, costs, eventMembers = [] }: Pick<PpmKind, 'entity' | 'costs' | 'eventMembers'>,
  card: { id: string; type: string; name: string },
  before: PpmRow | null,
  after: PpmRow | null,
): EventDraft {
  const row = (after ?? before)!;
  const members = Object.fromEntries(eventMembers.map((member) => [member, row[member] ?? null]));
  return {
    ...rowEvent(entity, before, after, { id: row.id, card_name: card.name, ...members }),
    card_id: card.id,
    card_type: card.type,
    cost_keys: costs ? [...costs] : null,
  };
}

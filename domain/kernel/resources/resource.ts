import type { CardReference } from '../context.ts';
import type { EventType } from '../events/events.catalogue.ts';
import type { UndoRight, UndoSpec } from '../undo/undo.types.ts';
import type { RowModel } from './rows.ts';

/** How rows of a table go into a workspace archive, and come out of it. */
interface Transfer {
  /**
   * The columns that identify a row; `id` by default. Where they are a name and not an id, the same row has another id and
   * other timestamps in another workspace, so `omitted` keeps those out of archives.
   */
  key?: readonly string[];
  /** Columns that stay behind: what the service itself decides. */
  omitted?: readonly string[];
  /** Other ways to find the same row, tried when its key is not there: expressions over the row, for which `%` stands. */
  matches?: readonly (readonly string[])[];
  /**
   * Which rows go, as a condition on `t`; by default all. `active` gives the condition that a card, named by a column, is one of
   * those that go.
   */
  where?(active: (card: string) => string): string;
  /** Its rows refer to nobody: what looks like a user's id in their texts is a part of these, and goes as it is. */
  noPeople?: true;
  /** How a report names a row: an expression over `t`; by default its id. */
  label?: string;
  /** Rows are written without events, because the objects that use them have events. */
  silent?: true;
  /** Imports add rows and never update existing ones, although there is an event type for it. */
  insertOnly?: true;
  /** A write replaces the whole row, with the event of a created one. */
  replaced?: true;
  /** The column with the one user who receives the event. */
  recipient?: string;
  /** Columns that may hold costs. */
  costs?: readonly string[];
}

/** Why a table is no part of workspace archives. */
interface NoTransfer {
  /** `secret`: it must not leave; `derived`: it is computed again; `service`: it belongs to the installation. */
  excluded: 'secret' | 'derived' | 'service';
  reason: string;
}

/** How writes of rows are undone, and what that needs. Rows are undone from their events, column by column. */
export interface ResourceUndo extends Pick<UndoSpec, 'derived' | 'settle' | 'undo'> {
  right: UndoRight;
  /** Event types of which undoing needs something else. */
  rights?: Partial<Record<EventType, UndoRight>>;
  /** The rollback undoes them itself, in sets (`domain/app/batches`). */
  inSets?: true;
}

/**
 * Everything that the service does with the rows of one table, declared once. Registries of undo, merge, transfer and history
 * follow from it.
 */
export interface Resource {
  model: RowModel;
  /** What messages and reports call one row, such as `risk`. */
  name: string;
  /** The event types of its writes; a table whose rows are never updated leaves `updated` out. */
  events: UndoSpec['events'];
  /** The column with the card in whose history the events show. */
  card?: string;
  /** The topics whose cached results depend on the rows. */
  topics?: readonly string[];
  /** The rows are a part of the metamodel, beside whose changes nobody else writes. */
  metamodel?: true;
  undo: ResourceUndo | { refused: string };
  /** The references to cards which follow a merge. */
  cardReferences?: readonly Pick<CardReference, 'column' | 'owner' | 'once'>[];
  transfer: Transfer | NoTransfer;
  /** Reports and filters read its rows as of a date; `byKey` names the JSON columns whose events have a change for each key. */
  asOf?: true | { byKey: readonly string[] };
}

/** How the writes of a resource are undone; undefined where that is refused. */
export function undoSpecOf({ model, name, events, topics, metamodel, undo }: Resource): UndoSpec | undefined {
  if ('refused' in undo || undo.inSets) return undefined;
  const { derived, settle, undo: custom } = undo;
  return {
    entity: name,
    model,
    events,
    ...(metamodel ? { changesMetamodel: true } : {}),
    ...(topics ? { topics: () => [...topics] } : {}),
    ...(derived ? { derived } : {}),
    ...(settle ? { settle } : {}),
    ...(custom ? { undo: custom } : {}),
  };
}

/** The rights that undoing needs, by event type. */
export function undoRightsOf({ events, undo }: Resource): [EventType, UndoRight][] {
  if ('refused' in undo) return [];
  const types = [events.created, events.updated, events.deleted].flatMap((list) => list ?? []);
  return types.map((type) => [type, undo.rights?.[type] ?? undo.right]);
}

/** The references of a resource to cards, as a merge needs them. */
export function cardReferencesOf({ model, name, cardReferences = [] }: Resource): CardReference[] {
  return cardReferences.map((reference) => ({ entity: name, model, table: model.tableName, ...reference }));
}

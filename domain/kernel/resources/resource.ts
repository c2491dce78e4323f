import type { CardReference } from '../context.ts';
import type { EventType } from '../events/events.catalogue.ts';
import type { UndoRight, UndoSpec } from '../undo/undo.types.ts';
import type { RowModel } from './rows.ts';

/** How rows of a table are exported to a workspace archive, and imported from it. */
export interface Transfer {
  /**
   * The columns that identify a row; `id` by default. If they are a name instead of an id, the row has another id and
   * other timestamps in another workspace, so `omitted` excludes those from archives.
   */
  key?: readonly string[];
  /** Columns that are not exported, because the service sets them. */
  omitted?: readonly string[];
  /** Columns that the service sets itself: of existing rows they are neither compared nor written. */
  derived?: readonly string[];
  /** Other ways to find the same row, if its key does not exist: expressions over the row, represented by `%`. */
  matches?: readonly (readonly string[])[];
  /**
   * Which rows are exported, as a condition on `t`; by default all. `active` returns the condition that a card, given
   * by a column, is exported.
   */
  where?(active: (card: string) => string): string;
  /** Its rows do not reference users: ids in their texts are not converted. */
  noPeople?: true;
  /** The name of a row in reports: an expression over `t`; by default its id. */
  label?: string;
  /** Rows are written without events, because the objects that use them have events. */
  silent?: true;
  /** Imports add rows and never update existing ones, although there is an event type for it. */
  insertOnly?: true;
  /** A write replaces the whole row, with the event of a created one. */
  replaced?: true;
  /** The events of rows with a `relation_id`, if they differ from those of others. */
  ofRelations?: { created: EventType; updated: EventType };
  /** The column with the one user who receives the event. */
  recipient?: string;
  /** Columns that may contain costs. */
  costs?: readonly string[];
}

/** Why a table is not part of workspace archives. */
interface NoTransfer {
  /** `secret`: must not be exported; `derived`: recomputed; `service`: belongs to the installation. */
  excluded: 'secret' | 'derived' | 'service';
  reason: string;
}

/** How writes of rows are undone, and the required rights. Rows are undone from their events, column by column. */
export interface ResourceUndo extends Pick<UndoSpec, 'check' | 'derived' | 'settle' | 'undo'> {
  right: UndoRight;
  /** Event types whose undo needs other rights. */
  rights?: Partial<Record<EventType, UndoRight>>;
  /** Undone in sets by the rollback itself (`domain/app/batches`). */
  inSets?: true;
}

/**
 * The declaration of a table: undo, merge, transfer and history are derived from it.
 */
export interface Resource {
  model: RowModel;
  /** The name of one row in messages and reports, such as `risk`. */
  name: string;
  /** The event types of its writes; a table whose rows are never updated omits `updated`. */
  events: UndoSpec['events'];
  /** The column with the card whose history contains the events. */
  card?: string;
  /** The topics whose cached results depend on the rows. */
  topics?: readonly string[];
  /** The rows are part of the metamodel: no concurrent writes while they change. */
  metamodel?: true;
  undo: ResourceUndo | { refused: string };
  /** The references to cards that a merge updates. */
  cardReferences?: readonly Omit<CardReference, 'entity' | 'model' | 'table'>[];
  transfer: Transfer | NoTransfer;
  /**
   * Reports and filters can read its rows as of a date; `byKey` names the JSON columns whose events have a change for
   * each key.
   */
  asOf?: true | { byKey: readonly string[] };
}

/** How the writes of a resource are undone; undefined if they cannot be undone. */
export function undoSpecOf({ model, name, events, topics, metamodel, undo }: Resource): UndoSpec | undefined {
  if ('refused' in undo || undo.inSets) return undefined;
  const { check, derived, settle, undo: custom } = undo;
  return {
    entity: name,
    model,
    events,
    ...(metamodel ? { changesMetamodel: true } : {}),
    ...(topics ? { topics: () => [...topics] } : {}),
    ...(derived ? { derived } : {}),
    ...(check ? { check } : {}),
    ...(settle ? { settle } : {}),
    ...(custom ? { undo: custom } : {}),
  };
}

/** The rights that an undo needs, by event type. */
export function undoRightsOf({ events, undo }: Resource): [EventType, UndoRight][] {
  if ('refused' in undo) return [];
  const types = [events.created, events.updated, events.deleted].flatMap((list) => list ?? []);
  return types.map((type) => [type, undo.rights?.[type] ?? undo.right]);
}

/** The references of a resource to cards, for merges. */
export function cardReferencesOf({ model, name, cardReferences = [] }: Resource): CardReference[] {
  return cardReferences.map((reference) => ({ entity: name, model, table: model.tableName, ...reference }));
}

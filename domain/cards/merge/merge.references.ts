import { type AdrCardRow, adrCardEvent } from '../../adr/adr.links.events.ts';
import {
  type StakeholderRow,
  stakeholderEvent,
} from '../../collaboration/stakeholders/stakeholders.events.ts';
import { linkEvent } from '../../diagrams/diagrams.events.ts';
import type { LinkRow } from '../../diagrams/diagrams.types.ts';
import type { EventDraft } from '../../events/events.types.ts';
import type { StoredRow } from '../../events/row-changes.ts';
import type { CardType } from '../../metamodel/metamodel.compile.ts';
import { riskCardEvent } from '../../risks/risks.events.ts';
import type { RiskCardRow } from '../../risks/risks.types.ts';
import { responseEvent } from '../../surveys/surveys.events.ts';
import type { ResponseRow } from '../../surveys/surveys.types.ts';
import { favoriteEvent } from '../../views/favorites.events.ts';

/** Rows of one table that hang on a card, and move to another by a change of one column. */
export interface CardReference {
  /** What an event calls such a row. */
  entity: string;
  /** Has an `id`. */
  table: string;
  column: string;
  /** Whom alone such a row concerns: nobody else is told of it. */
  owner?: 'user_id';
  /** Where a card can have only one row of its kind. */
  once?: {
    /** The columns in which two such rows agree. */
    by: string[];
    /** SQL on `t`: which rows may be left out; without it any of them. Others stay, and stay before these. */
    only?: string;
    /**
     * The event of a row that was left out since there is one of its kind (`gone`), or brought back; `user` is the
     * display name of the user whom it names.
     */
    event(
      card: { id: string; name: string },
      type: CardType,
      row: StoredRow,
      user: string,
      gone: boolean,
    ): EventDraft;
  };
}

/**
 * Every table whose rows move with a merged card. A table that refers to cards and stands neither here nor in
 * {@link ownWays} would lose its rows: a test looks for such.
 */
export const cardReferences: CardReference[] = [
  {
    entity: 'stakeholder',
    table: 'stakeholders',
    column: 'card_id',
    once: {
      by: ['user_id', 'role'],
      event: (card, type, row, user, gone) => {
        const stored = row as StakeholderRow;
        return stakeholderEvent(card, type, user, gone ? stored : null, gone ? null : stored);
      },
    },
  },
  { entity: 'comment', table: 'comments', column: 'card_id' },
  { entity: 'todo', table: 'todos', column: 'card_id' },
  { entity: 'document', table: 'documents', column: 'card_id' },
  { entity: 'file', table: 'file_attachments', column: 'card_id' },
  { entity: 'compliance finding', table: 'compliance_findings', column: 'card_id' },
  { entity: 'status report', table: 'ppm_reports', column: 'card_id' },
  { entity: 'cost line', table: 'ppm_cost_lines', column: 'card_id' },
  { entity: 'budget line', table: 'ppm_budget_lines', column: 'card_id' },
  { entity: 'project risk', table: 'ppm_risks', column: 'card_id' },
  { entity: 'WBS item', table: 'ppm_wbs', column: 'card_id' },
  { entity: 'task', table: 'ppm_tasks', column: 'card_id' },
  { entity: 'task comment', table: 'ppm_task_comments', column: 'card_id' },
  { entity: 'task dependency', table: 'ppm_dependencies', column: 'card_id' },
  {
    entity: 'diagram link',
    table: 'diagram_cards',
    column: 'card_id',
    once: {
      by: ['diagram_id'],
      // the survivor's link stays: nobody else has to hear of it, since the diagram may be its maker's alone
      event: (card, type, row, _user, gone) => {
        const link = row as LinkRow;
        return { ...linkEvent({ id: card.id, type: type.key }, link, gone, link.user_id), scope: 'user' };
      },
    },
  },
  {
    entity: 'risk link',
    table: 'risk_cards',
    column: 'card_id',
    once: {
      by: ['risk_id'],
      event: (card, type, row, _user, gone) => {
        const stored = row as RiskCardRow;
        const on = { id: card.id, type: type.key };
        return riskCardEvent(on, undefined, gone ? stored : null, gone ? null : stored);
      },
    },
  },
  { entity: 'process diagram', table: 'process_diagrams', column: 'process_id' },
  { entity: 'process flow', table: 'process_flow_versions', column: 'process_id' },
  { entity: 'process assessment', table: 'process_assessments', column: 'process_id' },
  { entity: 'process element link', table: 'process_element_links', column: 'process_id' },
  { entity: 'process element link', table: 'process_element_links', column: 'application_id' },
  { entity: 'process element link', table: 'process_element_links', column: 'data_object_id' },
  { entity: 'process element link', table: 'process_element_links', column: 'it_component_id' },
  { entity: 'statement of architecture work', table: 'soaws', column: 'initiative_id' },
  {
    entity: 'decision link',
    table: 'adr_cards',
    column: 'card_id',
    once: {
      by: ['adr_id'],
      event: (card, type, row, _user, gone) => {
        const stored = row as AdrCardRow;
        return adrCardEvent(
          { id: card.id, type: type.key },
          null,
          gone ? stored : null,
          gone ? null : stored,
        );
      },
    },
  },
  {
    entity: 'survey response',
    table: 'survey_responses',
    column: 'card_id',
    once: {
      by: ['survey_id', 'user_id'],
      // nobody is asked twice, nor what he has answered; answers are all kept
      only: `t.status = 'pending'`,
      event: (card, type, row, _user, gone) => {
        const stored = row as unknown as ResponseRow;
        return responseEvent({ id: card.id, type: type.key }, gone ? stored : null, gone ? null : stored);
      },
    },
  },
  {
    entity: 'favorite',
    table: 'favorites',
    column: 'card_id',
    owner: 'user_id',
    once: {
      by: ['user_id'],
      event: (_card, _type, row, _user, gone) => favoriteEvent(gone ? row : null, gone ? null : row),
    },
  },
];

/** Columns that refer to cards and are merged in ways of their own, as `table.column`. */
export const ownWays: ReadonlySet<string> = new Set([
  'cards.parent_id',
  'relations.source_id',
  'relations.target_id',
  'card_tags.card_id',
]);

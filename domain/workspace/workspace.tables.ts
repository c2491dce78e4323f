import type { EventType } from '../events/events.types.ts';

/** A table whose rows are the workspace's own, and go with it. */
export interface ContentTable {
  table: string;
  /** What reports call one of its rows. */
  what: string;
  /**
   * The columns that identify a row. Where they are a name and no id, the same thing has another id and other moments in
   * another workspace, so that `left` keeps those out of archives.
   */
  key: readonly string[];
  /** Columns that stay behind: what the service itself decides, or notes for itself. */
  left?: readonly string[];
  /** Other ways to find the same row, tried when its id is not there: expressions over the row, which `%` stands for. */
  matches?: readonly (readonly string[])[];
  /**
   * Which rows go, as a condition on `t`; all, where it is absent. `active` gives the condition that a card, named by a column,
   * is one of those that go.
   */
  where?(active: (card: string) => string): string;
  /** How a report names a row: an expression over `t`. */
  label: string;
  /** What a written row is told as; a kind that has no changes of its own is never changed by an import. */
  events?: { created: EventType; updated?: EventType };
  /** The column with the card in whose history the event shows. */
  card?: string;
  /** The column with the one user whom the event is told. */
  recipient?: string;
  /** Columns that may tell of costs. */
  costs?: readonly string[];
  /** Topics that its rows raise. */
  topics?: readonly string[];
  /** Rows are a part of the metamodel, beside whose change nobody else writes. */
  metamodel?: true;
}

const moments = ['created_at', 'updated_at'] as const;
const plain = (kind: string): ContentTable['events'] => ({
  created: `${kind}.created` as EventType,
  updated: `${kind}.updated` as EventType,
});
const once = (created: EventType): ContentTable['events'] => ({ created });
const byId = { key: ['id'] } as const;

const ppm = (table: string, what: string, kind: string, more: Partial<ContentTable> = {}): ContentTable => ({
  table,
  what,
  ...byId,
  label: 't.id::text',
  events: kind === 'ppm_dependency' ? once('ppm_dependency.created') : plain(kind),
  card: 'card_id',
  topics: ['ppm'],
  ...more,
});

/** The contents that a row names by what they are: nothing tells of them but what names them. */
const content = (table: string, what: string, more: Partial<ContentTable>): ContentTable => ({
  table,
  what,
  ...byId,
  label: 't.id::text',
  ...more,
});

/** That a saved diagram or a flow version of a process that goes uses a content. */
const usedContent = (uses: string, active: (card: string) => string): string =>
  ['process_diagrams', 'process_flow_versions']
    .map((table) => `exists (select from ${table} u where ${uses} and ${active('u.process_id')})`)
    .join(' or ');

/** All of them, each behind those that it refers to. */
export const contentTables: readonly ContentTable[] = [
  {
    table: 'roles',
    what: 'role',
    key: ['key'],
    left: ['id', 'is_default', 'is_system', ...moments],
    label: 't.key',
    events: plain('role'),
    topics: ['roles'],
  },
  {
    table: 'card_types',
    what: 'card type',
    key: ['key'],
    left: moments,
    label: 't.key',
    events: plain('card_type'),
    topics: ['metamodel'],
    metamodel: true,
  },
  {
    table: 'relation_types',
    what: 'relation type',
    key: ['key'],
    left: moments,
    label: 't.key',
    events: plain('relation_type'),
    topics: ['metamodel'],
    metamodel: true,
  },
  {
    table: 'stakeholder_role_definitions',
    what: 'stakeholder role',
    key: ['card_type_key', 'key'],
    left: ['id', ...moments],
    label: `t.card_type_key || '/' || t.key`,
    events: plain('stakeholder_role'),
    topics: ['metamodel'],
    metamodel: true,
  },
  {
    table: 'tag_groups',
    what: 'tag group',
    ...byId,
    matches: [['lower(%.name)']],
    label: 't.name',
    events: plain('tag_group'),
    topics: ['metamodel'],
    metamodel: true,
  },
  {
    table: 'tags',
    what: 'tag',
    ...byId,
    matches: [['%.tag_group_id', 'lower(%.name)']],
    label: 't.name',
    events: plain('tag'),
    topics: ['metamodel'],
    metamodel: true,
  },
  {
    table: 'resource_types',
    what: 'kind of link or file',
    key: ['kind', 'key'],
    left: ['id', ...moments],
    label: `t.kind || '/' || t.key`,
    events: plain('resource_type'),
    topics: ['catalogues'],
  },
  {
    table: 'compliance_regulations',
    what: 'regulation',
    key: ['key'],
    left: ['id', ...moments],
    label: 't.key',
    events: plain('regulation'),
    topics: ['catalogues'],
  },
  {
    table: 'principles',
    what: 'principle',
    ...byId,
    matches: [['%.catalogue_id']],
    label: 't.title',
    events: plain('principle'),
    topics: ['catalogues'],
  },
  {
    table: 'reference_catalogues',
    what: 'reference catalogue',
    key: ['kind'],
    label: 't.kind',
    events: { created: 'reference_catalogue.loaded', updated: 'reference_catalogue.loaded' },
  },
  {
    table: 'files',
    what: 'file',
    ...byId,
    where: (active) => `t.expires_at is null and (
      exists (select from file_attachments a where a.file_id = t.id and ${active('a.card_id')})
      or exists (select from settings s where s.key in ('workspace.logo', 'workspace.favicon')
                 and s.value ->> 'file_id' = t.id::text))`,
    label: 't.name',
  },
  {
    table: 'cards',
    what: 'card',
    ...byId,
    matches: [['%.type', '%.external_id']],
    label: `t.type || '/' || coalesce(t.external_id, t.name)`,
    events: { created: 'card.created', updated: 'card.updated' },
  },
  {
    table: 'relations',
    what: 'relation',
    ...byId,
    matches: [['%.type', '%.source_id', '%.target_id']],
    label: `t.type || '/' || t.id`,
    events: { created: 'relation.created', updated: 'relation.updated' },
  },
  {
    table: 'card_tags',
    what: 'tag of a card',
    key: ['card_id', 'tag_id'],
    label: `t.card_id || '/' || t.tag_id`,
    events: once('tag.added'),
    card: 'card_id',
  },
  {
    table: 'stakeholders',
    what: 'stakeholder',
    ...byId,
    matches: [['%.card_id', '%.user_id', '%.role']],
    label: `t.role || '/' || t.id`,
    events: { created: 'stakeholder.added', updated: 'stakeholder.role_changed' },
    card: 'card_id',
  },
  {
    table: 'comments',
    what: 'comment',
    ...byId,
    label: 't.id::text',
    events: plain('comment'),
    card: 'card_id',
  },
  { table: 'todos', what: 'to-do', ...byId, label: 't.id::text', events: plain('todo'), card: 'card_id' },
  {
    table: 'documents',
    what: 'link',
    ...byId,
    label: 't.name',
    events: once('document.added'),
    card: 'card_id',
  },
  {
    table: 'file_attachments',
    what: 'attached file',
    ...byId,
    label: 't.name',
    events: once('file.uploaded'),
    card: 'card_id',
  },
  {
    table: 'favorites',
    what: 'favourite',
    ...byId,
    matches: [['%.user_id', '%.card_id']],
    label: 't.id::text',
    events: once('favorite.created'),
    recipient: 'user_id',
  },
  {
    table: 'bookmarks',
    what: 'saved view',
    ...byId,
    label: 't.name',
    events: plain('bookmark'),
    recipient: 'owner_id',
  },
  {
    table: 'saved_reports',
    what: 'saved report',
    ...byId,
    label: 't.name',
    events: plain('saved_report'),
    recipient: 'owner_id',
  },
  { table: 'surveys', what: 'survey', ...byId, label: 't.name', events: plain('survey') },
  {
    table: 'survey_responses',
    what: 'answer to a survey',
    ...byId,
    label: 't.id::text',
    events: plain('survey_response'),
    card: 'card_id',
    costs: ['responses'],
  },
  {
    table: 'diagram_groups',
    what: 'group of diagrams',
    ...byId,
    matches: [['lower(%.name)']],
    label: 't.name',
    events: plain('diagram_group'),
  },
  content('diagram_drawings', 'drawing', {
    left: ['left_at'],
    where: () => 'exists (select from diagrams d where d.drawing = t.id)',
  }),
  { table: 'diagrams', what: 'diagram', ...byId, label: 't.name', events: plain('diagram') },
  {
    table: 'diagram_cards',
    what: 'card of a diagram',
    ...byId,
    matches: [['%.diagram_id', '%.card_id']],
    label: 't.id::text',
    events: once('diagram.linked'),
    card: 'card_id',
  },
  {
    table: 'diagram_favorites',
    what: 'starred diagram',
    ...byId,
    matches: [['%.user_id', '%.diagram_id']],
    label: 't.id::text',
    events: once('diagram_favorite.created'),
    recipient: 'user_id',
  },
  {
    table: 'risks',
    what: 'risk',
    ...byId,
    label: 't.reference',
    events: plain('risk'),
    topics: ['risks'],
  },
  {
    table: 'risk_cards',
    what: 'card of a risk',
    ...byId,
    matches: [['%.risk_id', '%.card_id']],
    label: 't.id::text',
    events: { created: 'risk.added', updated: 'risk.role_changed' },
    card: 'card_id',
    topics: ['risks'],
  },
  {
    table: 'risk_mitigation_tasks',
    what: 'mitigation task',
    ...byId,
    label: 't.reference',
    events: plain('risk_mitigation_task'),
  },
  {
    table: 'risk_mitigation_occurrences',
    what: 'occurrence of a mitigation task',
    ...byId,
    label: 't.id::text',
    events: {
      created: 'risk_mitigation_task.occurrence_added',
      updated: 'risk_mitigation_task.occurrence_updated',
    },
  },
  { table: 'adrs', what: 'decision', ...byId, label: 't.title', events: plain('adr') },
  {
    table: 'adr_cards',
    what: 'card of a decision',
    ...byId,
    matches: [['%.adr_id', '%.card_id']],
    label: 't.id::text',
    events: once('adr_card.created'),
    card: 'card_id',
  },
  {
    table: 'soaws',
    what: 'statement of architecture work',
    ...byId,
    label: 't.name',
    events: plain('soaw'),
    card: 'initiative_id',
  },
  ppm('ppm_reports', 'status report', 'ppm_report'),
  ppm('ppm_cost_lines', 'cost line', 'ppm_cost_line', { costs: ['planned', 'actual'] }),
  ppm('ppm_budget_lines', 'budget line', 'ppm_budget_line', { costs: ['amount'] }),
  ppm('ppm_risks', 'risk of a project', 'ppm_risk', { label: 't.title' }),
  ppm('ppm_wbs', 'work package', 'ppm_wbs', { label: 't.title' }),
  ppm('ppm_tasks', 'task', 'ppm_task', { label: 't.title' }),
  ppm('ppm_task_comments', 'comment on a task', 'ppm_task_comment'),
  ppm('ppm_dependencies', 'dependency of tasks', 'ppm_dependency'),
  content('process_contents', 'content of a process', {
    left: ['used_at'],
    where: (active) => usedContent('t.id in (u.content_id, u.thumbnail_id)', active),
  }),
  content('process_content_elements', 'element of a process', {
    matches: [['%.content_id', '%.bpmn_element_id']],
    where: (active) => usedContent('t.content_id = u.content_id', active),
  }),
  {
    table: 'process_diagrams',
    what: 'process diagram',
    ...byId,
    label: 't.id::text',
    events: once('process_diagram.saved'),
    card: 'process_id',
    topics: ['bpm'],
  },
  {
    table: 'process_flow_versions',
    what: 'process flow',
    ...byId,
    label: 't.id::text',
    events: plain('process_flow'),
    card: 'process_id',
  },
  {
    table: 'process_element_links',
    what: 'link of a process element',
    ...byId,
    label: 't.id::text',
    events: plain('process_element_link'),
    card: 'process_id',
    topics: ['bpm'],
  },
  {
    table: 'process_assessments',
    what: 'process assessment',
    ...byId,
    label: 't.id::text',
    events: plain('process_assessment'),
    card: 'process_id',
  },
  {
    table: 'compliance_findings',
    what: 'compliance finding',
    ...byId,
    label: 't.id::text',
    events: plain('compliance_finding'),
    card: 'card_id',
  },
  {
    table: 'duplicate_decisions',
    what: 'decision about duplicates',
    ...byId,
    label: 't.id::text',
    events: plain('duplicate_decision'),
  },
  {
    table: 'assessments',
    what: 'session about a target architecture',
    ...byId,
    label: 't.title',
    events: plain('assessment'),
    costs: ['session_data'],
  },
  {
    table: 'calculations',
    what: 'calculation',
    ...byId,
    label: 't.name',
    events: plain('calculation'),
    topics: ['metamodel'],
    metamodel: true,
  },
];

/** By the name of the table. */
export const contentTable: ReadonlyMap<string, ContentTable> = new Map(
  contentTables.map((table) => [table.table, table]),
);

/** The parts of an archive that are no table as they are. */
export const PEOPLE = 'users';
export const SETTINGS = 'settings';

import { APPROVAL_TOPIC } from '../../collaboration/todos/todos.topics.ts';
import { signingTopics } from '../../governance/signatures/signatures.todos.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { ContentTable } from './workspace.types.ts';

/** What the service asks of people by itself wherever something waits for them. */
const askedAnew: readonly string[] = [APPROVAL_TOPIC, ...signingTopics];

const moments = ['created_at', 'updated_at'] as const;
const plain = (kind: string): ContentTable['events'] => ({
  created: `${kind}.created` as EventType,
  updated: `${kind}.updated` as EventType,
});
const once = (created: EventType): ContentTable['events'] => ({ created });
const byId = { key: ['id'] } as const;

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

/** The order of the tables, each after those that it refers to; those of resources by name alone. */
export const tableOrder: readonly (ContentTable | string)[] = [
  {
    table: 'roles',
    what: 'role',
    key: ['key'],
    left: ['id', 'is_default', 'is_system', ...moments],
    label: 't.key',
    events: plain('role'),
    topics: ['roles'],
  },
  'card_types',
  'relation_types',
  'stakeholder_role_definitions',
  'tag_groups',
  'tags',
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
    left: ['needs'],
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
  'card_tags',
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
  {
    table: 'todos',
    what: 'to-do',
    ...byId,
    // who is asked to sign or approve follows from who can, where the archive goes as where it comes from
    where: () =>
      `not coalesce(t.is_system and t.status <> 'done' and t.topic in ('${askedAnew.join("', '")}'), false)`,
    label: 't.id::text',
    events: plain('todo'),
    card: 'card_id',
  },
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
    namesNobody: true,
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
  'risks',
  'risk_cards',
  'risk_mitigation_tasks',
  'risk_mitigation_occurrences',
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
  'ppm_reports',
  'ppm_cost_lines',
  'ppm_budget_lines',
  'ppm_risks',
  'ppm_wbs',
  'ppm_tasks',
  'ppm_task_comments',
  'ppm_dependencies',
  content('process_contents', 'content of a process', {
    namesNobody: true,
    left: ['used_at'],
    where: (active) => usedContent('t.id in (u.content_id, u.thumbnail_id)', active),
  }),
  content('process_content_elements', 'element of a process', {
    namesNobody: true,
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
    table: 'modernization_decisions',
    what: 'decision about modernisation',
    ...byId,
    matches: [['%.card_id', '%.modernization_type']],
    label: 't.id::text',
    events: plain('modernization_decision'),
    card: 'card_id',
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
    table: 'web_portals',
    what: 'web portal',
    ...byId,
    // what the public sees is decided where it sees it: portals come unpublished, and one that is here stays as it is
    left: ['is_published'],
    matches: [['%.slug']],
    label: 't.slug',
    events: once('web_portal.created'),
    topics: ['web_portals'],
  },
  'calculations',
];

import { embed, query, type Sql } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import { visibleAttributes, visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import { EOL_CYCLE, EOL_PRODUCT } from '../../kernel/metamodel/eol.fields.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { answersOf, hasChosen, planningHorizon } from './architect.answers.ts';
import { findGaps, isCritical } from './architect.gaps.ts';
import type { SessionInput } from './architect.input.ts';
import { evaluateOptions, selectOption } from './architect.options.ts';
import { type ProposalInput, proposeArchitecture } from './architect.propose.ts';
import { applicationQuestions, businessQuestions } from './architect.questions.ts';
import { readScope } from './architect.scope.ts';
import {
  type Architecture,
  type Dependency,
  type Facts,
  type Gap,
  type OptionId,
  optionIds,
  type Peer,
  type ScopeApplication,
  type ScopeCapability,
} from './architect.types.ts';
import { APPLICATION, CAPABILITY, relationTypesBetween } from './architect.words.ts';

/** The maximum number of applications of a session; those with the most capabilities first. */
const MOST_APPLICATIONS = 500;
/** The maximum number of relations of these applications. */
const MOST_PEERS = 20_000;

/**
 * The facts of the inventory for a session, as far as they are visible to the caller. Read in a fixed number of
 * statements.
 * @throws EstateError `forbidden` without `relations.view`, `validation_failed` for unknown objectives and capabilities.
 */
async function readFacts(ctx: Ctx, input: SessionInput): Promise<Facts> {
  requirePermission(ctx.caller, 'relations.view');
  const day = new Date().toISOString().slice(0, 10);
  const { objectives, capabilities } = await readScope(ctx.db, ctx, input);
  const { rows, total } = await readApplications(ctx.db, ctx, capabilities);
  const ids = rows.map(({ id }) => id);
  const peers = await readPeers(ctx.db, ctx, ids);
  const inScope = new Map(capabilities.map((capability) => [capability.id, capability]));
  const applications = rows.map((row): ScopeApplication => {
    const all = peers.get(row.id) ?? [];
    const supported = [...new Set(all.flatMap(({ id, type }) => (type === CAPABILITY ? id : [])))];
    const capability_ids = supported.filter((id) => inScope.has(id));
    for (const id of capability_ids) inScope.get(id)!.application_ids.push(row.id);
    return {
      ...row,
      type: APPLICATION,
      capability_ids,
      other_capabilities: supported.length - capability_ids.length,
      peers: all.filter(({ type }) => type !== CAPABILITY),
    };
  });
  const horizon = planningHorizon(answersOf(input), day);
  return { day, horizon, objectives, capabilities, applications, total_applications: total };
}

/** The end of life of a card over the alias `c`: that of its release cycle, else that of its lifecycle. */
const ENDS_ON = `coalesce((
    select y.eol_from from eol_cycles y
    where y.product = c.attributes ->> '${EOL_PRODUCT}' and y.cycle = c.attributes ->> '${EOL_CYCLE}'),
  nullif(c.lifecycle ->> 'endOfLife', '')::date)::text`;

type ApplicationRow = Pick<ScopeApplication, 'id' | 'name' | 'subtype' | 'attributes' | 'ends_on'>;

/** The applications that support the capabilities. */
async function readApplications(
  sql: Sql,
  ctx: Ctx,
  capabilities: ScopeCapability[],
): Promise<{ rows: ApplicationRow[]; total: number }> {
  const ids = capabilities.flatMap(({ id, is_new }) => (is_new ? [] : id));
  if (ids.length === 0) return { rows: [], total: 0 };
  const visible = visibleCards(ctx);
  const attributes = visibleAttributes(ctx);
  const types = relationTypesBetween(ctx.metamodel, APPLICATION, CAPABILITY);
  const { rows } = await sql.raw(
    // LATERAL looks them up by id: the planner has no statistics on tables that were just filled.
    `with types as materialized (select unnest(?::text[]) as key),
     edges as (
       select i.id as capability_id, e.id from unnest(?::uuid[]) i(id) cross join lateral (
         select r.source_id as id, r.type from relations r where r.target_id = i.id
         union all
         select r.target_id, r.type from relations r where r.source_id = i.id
       ) e where e.type in (select key from types)
     ), ends as materialized (select id, count(distinct capability_id) as capabilities from edges group by id),
     found as materialized (
       select e.id, c.name_key, e.capabilities from ends e cross join lateral (
         select c.id, c.type, c.status, c.name_key from cards c where c.id = e.id offset 0) c
       where c.type = ? and c.status = 'ACTIVE' and (${visible.sql})
     ), chosen as (select * from found order by capabilities desc, name_key, id limit ?)
     select h.id, c.*, (select count(*)::int from found) as total
     from chosen h cross join lateral (
       select c.name, c.subtype, ${attributes.sql} as attributes, ${ENDS_ON} as ends_on
       from cards c where c.id = h.id offset 0) c
     order by h.name_key, h.id`,
    [types, ids, APPLICATION, ...visible.bindings, MOST_APPLICATIONS, ...attributes.bindings],
  );
  const total = rows[0]?.total ?? 0;
  return { rows: rows.map(({ total: _, ...row }: ApplicationRow & { total: number }) => row), total };
}

/** All cards related to the applications, by application. */
async function readPeers(sql: Sql, ctx: Ctx, ids: string[]): Promise<Map<string, Peer[]>> {
  if (ids.length === 0) return new Map();
  const types = ctx.metamodel.visibleRelationTypes;
  const rows = await query(sql).rows`with types as materialized (select unnest(${types}::text[]) as key),
     edges as (
       select i.id as application_id, e.* from unnest(${ids}::uuid[]) i(id) cross join lateral (
         select r.target_id as id, r.type as relation_type, 'outgoing' as direction
         from relations r where r.source_id = i.id
         union all
         select r.source_id, r.type, 'incoming' from relations r where r.target_id = i.id
       ) e where e.relation_type in (select key from types)
     )
     select e.application_id, e.relation_type, e.direction, e.id, c.name, c.type, c.ends_on
     from edges e cross join lateral (
       select c.id, c.name, c.type, c.status, c.name_key, ${embed(ENDS_ON)} as ends_on from cards c
       where c.id = e.id offset 0) c
     where c.status = 'ACTIVE' and (${embed(visibleCards(ctx))})
     order by c.type, c.name_key, e.id, e.relation_type, e.application_id limit ${MOST_PEERS}`;
  const peers = new Map<string, Peer[]>();
  for (const { application_id, ...peer } of rows as (Peer & { application_id: string })[]) {
    const list = peers.get(application_id) ?? [];
    list.push(peer);
    peers.set(application_id, list);
  }
  return peers;
}

/** The maximum number of gaps in a response; the most severe come first. */
const MOST_GAPS = 1000;

/** The data computed for a session: equal facts and answers result in an equal brief. */
async function briefOf(ctx: Ctx, input: SessionInput): Promise<ProposalInput> {
  requirePermission(ctx.caller, 'ai_analysis.manage');
  const chosen = input.selectedOption?.id;
  if (chosen !== undefined && !optionIds.includes(chosen as OptionId)) {
    throw invalidField('selectedOption.id', 'unknown_option', `is none of ${optionIds.join(', ')}`);
  }
  const facts = await readFacts(ctx, input);
  const { metamodel } = ctx;
  const products = (input.selectedProducts ?? []).flatMap(({ name }) => name?.trim() || []);
  return { metamodel, facts, gaps: findGaps(metamodel, facts), answers: answersOf(input), products };
}

/**
 * The brief with only the gaps to be closed: the chosen ones, those of the capabilities with the highest priority, and
 * none that the answers exclude.
 */
function narrowed(brief: ProposalInput, { selectedRecommendations }: SessionInput): ProposalInput {
  const { facts, answers } = brief;
  const chosen = new Set((selectedRecommendations ?? []).flatMap(({ id }) => id ?? []));
  const focus = below(facts.capabilities, answers.get('focus') ?? []);
  const supporting = new Set(
    facts.capabilities.flatMap(({ id, application_ids }) => (focus.has(id) ? application_ids : [])),
  );
  const left = hasChosen(answers, 'uncovered', 'manual') || hasChosen(answers, 'uncovered', 'later');
  const gaps = brief.gaps.filter(
    ({ id, kind, card }) =>
      (chosen.size === 0 || chosen.has(id)) &&
      (focus.size === 0 || focus.has(card.id) || supporting.has(card.id)) &&
      !(left && kind === 'capability_without_application'),
  );
  return { ...brief, gaps };
}

/** The capabilities with these ids, and all their descendants. */
function below(capabilities: ScopeCapability[], ids: string[]): Set<string> {
  const found = new Set<string>();
  // Parents come first.
  for (const { id, parent_id } of capabilities) {
    if (ids.includes(id) || found.has(parent_id ?? '')) found.add(id);
  }
  return found;
}

const optionOf = ({ selectedOption }: SessionInput) => selectedOption?.id as OptionId | undefined;

/** A phase: what is computed from the brief of a session. @throws EstateError `forbidden`, `validation_failed`. */
const phase =
  <T>(compute: (brief: ProposalInput, input: SessionInput) => T) =>
  async (ctx: Ctx, input: SessionInput): Promise<T> =>
    compute(await briefOf(ctx, input), input);

/** Questions about the business, depending on the inventory. */
export const askBusinessQuestions = phase((brief) => ({ questions: businessQuestions(brief) }));

/** Questions about the applications, which follow those about the business. */
export const askApplicationQuestions = phase((brief) => ({ questions: applicationQuestions(brief) }));

/** The options for a target architecture with their effects. */
export const readOptions = phase((brief, input) => ({ options: evaluateOptions(narrowed(brief, input)) }));

/** The gaps of the current architecture. */
export const readGaps = phase(({ gaps }) => ({ gaps: gaps.slice(0, MOST_GAPS) }));

/** The dependencies of the cards that the chosen option changes. */
export const readDependencies = phase((brief, input) => {
  const relevant = narrowed(brief, input);
  const option = selectOption(relevant, optionOf(input));
  return { dependencies: findDependencies(relevant, proposeArchitecture(relevant, option)) };
});

/** The target architecture of the chosen option. */
interface TargetArchitecture extends Architecture {
  option: OptionId;
  /** The capabilities that it supports. */
  capabilities: { id: string; name: string; is_new: boolean }[];
}

/** A target architecture and the gaps that it closes. */
export interface ArchitecturePlan {
  architecture: TargetArchitecture;
  gaps: Gap[];
}

/** The cards and relations of the chosen option, else of the recommended one, each with its reasons. */
export const planArchitecture = phase((brief, input): ArchitecturePlan => {
  const relevant = narrowed(brief, input);
  const option = selectOption(relevant, optionOf(input));
  const capabilities = relevant.facts.capabilities.map(({ id, name, is_new }) => ({ id, name, is_new }));
  const proposed = proposeArchitecture(relevant, option);
  return { architecture: { option, capabilities, ...proposed }, gaps: relevant.gaps };
});

/** The maximum number of dependencies in a response; those of retired applications come first. */
const MOST = 1000;

/** The action for a card that depends on a retired application, by its type. */
const moves = new Map([
  ['Organization', 'has to be moved to what takes its place'],
  ['Interface', 'has to be served by what takes its place, or given up'],
  ['DataObject', 'has to be migrated'],
  ['ITComponent', 'may become free'],
  ['BusinessProcess', 'has to be supported by what takes its place'],
  ['Application', 'has to be joined to what takes its place'],
  ['Provider', 'has to be informed, and contracts ended'],
]);

/** The dependencies of the stored applications that an architecture changes. */
function findDependencies({ metamodel, facts }: ProposalInput, { cards }: Architecture): Dependency[] {
  const byId = new Map(facts.applications.map((application) => [application.id, application]));
  const touched = new Map(cards.map(({ id, change }) => [id, change]));
  const order = (change: string) => (change === 'retired' ? 0 : 1);
  return [...cards]
    .sort((a, b) => order(a.change) - order(b.change))
    .flatMap(({ id, change }): Dependency[] => {
      const application = byId.get(id);
      if (!application || change === 'new') return [];
      const card = { id, name: application.name, type: application.type };
      const critical = isCritical(metamodel, application);
      return application.peers.map((peer) => {
        const type = metamodel.relationTypes.get(peer.relation_type)!;
        const outgoing = peer.direction === 'outgoing';
        const both = touched.get(peer.id) === 'retired';
        return {
          card,
          change,
          peer: { id: peer.id, name: peer.name, type: peer.type },
          relation_type: peer.relation_type,
          label: outgoing ? type.label : (type.reverse_label ?? type.label),
          direction: peer.direction,
          severity: change === 'changed' || both ? 'low' : critical ? 'high' : 'medium',
          reason: both
            ? `${peer.name} is retired as well.`
            : change === 'retired'
              ? `${peer.name} ${moves.get(peer.type) ?? 'has to be looked at'}, since ${application.name} is retired.`
              : `${peer.name} may notice that ${application.name} changes.`,
        };
      });
    })
    .slice(0, MOST);
}

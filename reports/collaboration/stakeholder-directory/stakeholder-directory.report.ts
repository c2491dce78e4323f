import Type, { type Static } from 'typebox';
import { translated } from '../../../domain/kernel/metamodel/languages.ts';
import type { CardType } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import {
  arrayOf,
  Count,
  IntegerIn,
  OpenObject,
  OptionalText,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import { type ChartContext, typePlural } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import { typeOf } from '../../kernel/report.params.ts';
import { jsonLines } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, type ReportTable, reportSchema } from '../../kernel/report.ts';

const Text = Type.String();
const Holder = object({
  user_id: Uuid,
  display_name: Text,
  email: Text,
  cards: arrayOf({ id: Uuid, name: Text }),
  card_count: Count,
});
const DirectoryRole = object({
  role_key: Text,
  role_label: Text,
  role_color: Text,
  role_translations: OpenObject,
  users: Type.Array(Holder),
});

const Result = reportSchema('StakeholderDirectory', {
  card_types: arrayOf({
    type_key: Text,
    type_label: Text,
    type_icon: Text,
    type_color: Text,
    roles: Type.Array(DirectoryRole),
    holders_count: Count,
  }),
});
type Result = Static<typeof Result>;

/** The roles of a type as JSON rows, to be joined with people. */
const rolesOf = (types: CardType[], role: string | undefined) =>
  types.flatMap((type, place) =>
    type.stakeholderRoles
      .filter(({ key }) => role === undefined || key === role)
      .map(({ key, label, color, translations }, rank) => ({
        type: type.key,
        place,
        rank,
        key,
        head: { role_key: key, role_label: label, role_color: color, role_translations: translations },
      })),
  );

/** Users with their stakeholder roles and cards. */
export const stakeholderDirectoryReport = defineReport({
  name: 'stakeholder-directory',
  id: 'readStakeholderDirectory',
  summary: 'Read users with their stakeholder roles and cards',
  description:
    'Each user with a role on cards of a type, with `card_count` and one page of these cards by name: `cards` is the page size, `cards_page` the page from 1. All users are included; `holders_count` counts each user once per type.',
  permission: 'admin.users',
  params: {
    type: OptionalText(100, 'Key of a card type; default: all'),
    role: OptionalText(100, 'Key of a stakeholder role; default: all'),
    user_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only roles of this user' })),
    cards: IntegerIn(0, 1000, 'Cards per user and page', 50),
    cards_page: IntegerIn(1, 1_000_000, 'The page of cards', 1),
  },
  result: Result,
  reads: { cards: ['type', 'name', 'name_key', 'status'], others: true },
  check(ctx, { type, role }) {
    const types = type === undefined ? visibleTypes(ctx) : [typeOf(ctx, 'type', type)];
    if (role !== undefined && rolesOf(types, role).length === 0) {
      throw invalidField('role', 'unknown_value', `"${role}" is not a stakeholder role`);
    }
  },
  topics: () => ['cards', 'users'],
  async compute({ sql, ctx, params, cards }) {
    const types = params.type === undefined ? visibleTypes(ctx) : [typeOf(ctx, 'type', params.type)];
    const from = (params.cards_page - 1) * params.cards;
    const heads = types.map((type, place) => ({
      place,
      type: type.key,
      head: {
        type_key: type.key,
        type_label: type.label,
        type_icon: type.icon,
        type_color: type.color,
      },
    }));
    const holder = `jsonb_build_object('user_id', h.user_id, 'display_name', h.display_name, 'email', h.email,
      'cards', h.cards, 'card_count', h.card_count)`;
    const ofUser =
      params.user_id === undefined ? fragment`` : fragment`s.user_id = ${params.user_id}::uuid and`;
    return await query(sql).value`with role as (
         select * from jsonb_to_recordset(${JSON.stringify(rolesOf(types, params.role))}::jsonb) as r(type text, place int, rank int, key text, head jsonb)
       ), assigned as (
         select c.type, s.role, s.user_id, c.id, c.name,
                row_number() over (partition by c.type, s.role, s.user_id order by c.name_key, c.id) as n
         from stakeholders s join cards c on c.id = s.card_id
         where ${embed(ofUser)} ${embed(cards)}
       ), holder as (
         select assigned.type, assigned.role, assigned.user_id, u.display_name, u.email, count(*) as card_count,
                coalesce(jsonb_agg(jsonb_build_object('id', assigned.id, 'name', assigned.name) order by assigned.n)
                  filter (where assigned.n > ${from}::bigint and assigned.n <= ${from + params.cards}::bigint), '[]') as cards
         from assigned join users u on u.id = assigned.user_id
         group by assigned.type, assigned.role, assigned.user_id, u.display_name, u.email
       ), role_items as (
         select r.type, r.rank, r.head || jsonb_build_object('users',
                  coalesce(jsonb_agg(${embed(holder)} order by lower(h.display_name), h.user_id)
                    filter (where h.user_id is not null), '[]')) as item
         from role r left join holder h on h.type = r.type and h.role = r.key
         group by r.type, r.rank, r.head
       )
       select '{"card_types":' || ${embed(
         jsonLines(
           `t.head || jsonb_build_object(
            'roles', coalesce((select jsonb_agg(role_items.item order by role_items.rank) from role_items where role_items.type = t.type), '[]'),
            'holders_count', (select count(distinct h.user_id) from holder h join role r on r.type = h.type and r.key = h.role
                              where h.type = t.type))`,
           't.place',
         ),
       )} || '}' as result
       from jsonb_to_recordset(${JSON.stringify(heads)}::jsonb) as t(place int, type text, head jsonb)`;
  },
  chart: (result, _params, context) => stakeholderDirectoryChart(result, context),
  tables: (result) => [holdersTable(result), cardsTable(result)],
});

function visibleTypes({
  metamodel,
}: {
  metamodel: { visibleTypes: readonly string[]; cardTypes: ReadonlyMap<string, CardType> };
}) {
  return metamodel.visibleTypes.map((key) => metamodel.cardTypes.get(key)!);
}

type Holder = Result['card_types'][number]['roles'][number]['users'][number];

function* holdersOf({ card_types }: Result): Generator<Holder & { type: string; role: string }> {
  for (const { type_key: type, roles } of card_types) {
    for (const { role_key: role, users } of roles) for (const user of users) yield { type, role, ...user };
  }
}

const who = { type: 'key', role: 'key', user_id: 'key', display_name: 'text' } as const;

const holdersTable = (result: Result): ReportTable =>
  reportTable('holders', { ...who, email: 'text', card_count: 'number' } as const, holdersOf(result));

const cardsTable = (result: Result): ReportTable =>
  reportTable(
    'cards',
    { ...who, card_id: 'key', card_name: 'text' } as const,
    Iterator.from(holdersOf(result)).flatMap((holder) =>
      holder.cards.map(({ id, name }) => ({ ...holder, card_id: id, card_name: name })),
    ),
  );

/** Maximum number of people in the chart. */
const SHOWN = 50;

/** The people with the most roles on cards, by role; nobody yet: the roles that wait for people. */
function stakeholderDirectoryChart(result: Result, context: ChartContext): Chart {
  const people = new Map<string, { name: string; roles: Map<string, number> }>();
  for (const { user_id, display_name, role, card_count } of holdersOf(result)) {
    const person = people.get(user_id) ?? { name: display_name, roles: new Map<string, number>() };
    person.roles.set(role, (person.roles.get(role) ?? 0) + card_count);
    people.set(user_id, person);
  }
  const roles = new Map(
    result.card_types.flatMap(({ roles: own }) =>
      own.map(({ role_key, role_label, role_translations }) => [
        role_key,
        translated(role_label, role_translations, context.language),
      ]),
    ),
  );
  const used = [...roles]
    .filter(([key]) => [...people.values()].some((person) => person.roles.has(key)))
    .slice(0, 7);
  const sum = (person: { roles: Map<string, number> }) =>
    [...person.roles.values()].reduce((total, count) => total + count, 0);
  const most = [...people.values()].sort((a, b) => sum(b) - sum(a)).slice(0, SHOWN);
  const unheld = result.card_types.filter(({ holders_count }) => holders_count === 0);
  const note =
    people.size > SHOWN
      ? reportText(context, 'stakeholders.most', { shown: SHOWN, total: people.size })
      : reportText(context, 'stakeholders.people', { count: people.size });
  const types = unheld.map(({ type_key }) => typePlural(context, type_key)).join(', ');
  return {
    kind: 'bars',
    title: reportText(context, 'stakeholders.title'),
    ...(people.size === 0
      ? { empty: reportText(context, 'stakeholders.empty') }
      : { note: types === '' ? note : reportText(context, 'stakeholders.unheld', { people: note, types }) }),
    itemAxis: reportText(context, 'stakeholders.person'),
    valueAxis: reportText(context, 'stakeholders.onCards'),
    unit: 'count',
    series: used.length > 0 ? used.map(([, label]) => label) : [reportText(context, 'stakeholders.roles')],
    items: most.map((person) => ({
      name: person.name,
      values: used.map(([key]) => person.roles.get(key) ?? 0),
    })),
  };
}

import { embed, fragment } from '../../../../platform/database.ts';
import { checkFilter } from '../../../inventory/filters/filters.check.ts';
import { compileFilter } from '../../../inventory/filters/filters.compile.ts';
import { resolveField } from '../../../inventory/filters/filters.fields.ts';
import { parseFilter, parsePath } from '../../../inventory/filters/filters.parser.ts';
import { createFilterSchema, type FilterSchema } from '../../../inventory/filters/filters.schema.ts';
import type { FilterNode } from '../../../inventory/filters/filters.types.ts';
import type { Fragment } from '../../../kernel/lists/lists.types.ts';
import type { CardType, Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import type { ComplianceRule, Fact } from './rules.types.ts';

/** A rule as SQL over the alias `c` of `cards`. */
export interface CompiledRule {
  /** Which cards it is about. */
  applies: Fragment;
  /** Which of them do not meet it. */
  gap: Fragment;
  severity: Fragment;
  /** A JSON array with the values of the facts, in the order of the rule. */
  facts: Fragment;
}

/** How far ahead `{soon}` looks. */
const SOON_DAYS = 182;

/**
 * Compiles a rule for all cards, independent of who starts the scan.
 * @throws EstateError `validation_failed` if the metamodel lacks names that the rule uses.
 */
export function compileRule(metamodel: Metamodel, rule: ComplianceRule, today: string): CompiledRule {
  const { schema, parse, compile } = compiler(metamodel, today);
  const applies = parse(rule.applies);
  // side by side, so that the types which the rule is about narrow the rest as well
  const items = applies.kind === 'and' ? applies.items : [applies];
  const cases = (rule.overrides ?? []).map(({ when, severity }) => ({
    when: compile(parse(when)),
    severity,
  }));
  const facts = rule.evidence.map((fact) => factSql(schema, fact, (text) => compile(parse(text))));
  return {
    applies: compile(applies),
    gap: compile({ kind: 'and', items: [...items, { kind: 'not', item: parse(rule.meets) }] }),
    severity: {
      sql:
        cases.length === 0
          ? '?::text'
          : `case ${cases.map(({ when }) => `when ${when.sql} then ?::text`).join(' ')} else ?::text end`,
      bindings: [...cases.flatMap(({ when, severity }) => [...when.bindings, severity]), rule.severity],
    },
    facts: {
      sql: `json_build_array(${facts.map(({ sql }) => sql).join(', ')})`,
      bindings: facts.flatMap(({ bindings }) => bindings),
    },
  };
}

/**
 * Compiles which cards a rule is about.
 * @throws EstateError `validation_failed` if the metamodel lacks names that it uses.
 */
export function compileApplies(metamodel: Metamodel, applies: string, today: string): Fragment {
  const { parse, compile } = compiler(metamodel, today);
  return compile(parse(applies));
}

function compiler(metamodel: Metamodel, today: string) {
  const schema = createFilterSchema(metamodel);
  const soon = new Date(Date.parse(today) + SOON_DAYS * 86_400_000).toISOString().slice(0, 10);
  return {
    schema,
    parse: (text: string): FilterNode =>
      parseFilter(text.replaceAll('{today}', today).replaceAll('{soon}', soon))!,
    compile: (node: FilterNode): Fragment => compileFilter(checkFilter(node, schema).root, { me: null }),
  };
}

function factSql(schema: FilterSchema, fact: Fact, compile: (text: string) => Fragment): Fragment {
  if ('field' in fact) {
    const { target } = resolveField(parsePath(fact.field), schema);
    if (target?.kind === 'column') return fragment`c.${embed(target.column)}::text`;
    if (target?.kind === 'attribute') return fragment`c.attributes ->> ${target.key}::text`;
    if (target?.kind === 'lifecycle') return fragment`c.lifecycle ->> ${target.phase}::text`;
    throw new TypeError(`no fact is made of ${fact.field}`);
  }
  if ('role' in fact) {
    return fragment`(select count(*) from stakeholders s where s.card_id = c.id and s.role = ${fact.role})`;
  }
  // Refuses names that the metamodel lacks.
  compile(`relation.${fact.relation}.${fact.end} is not empty`);
  const own = fact.end === 'source' ? 'target' : 'source';
  const where = fact.where === undefined ? fragment`true` : compile(fact.where);
  return fragment`(select count(*) from relations r
    where r.${embed(own)}_id = c.id and r.type = ${fact.relation}
      and exists (select from cards c where c.id = r.${embed(fact.end)}_id and ${embed(where)}))`;
}

/** The evidence as text: `businessCriticality: missionCritical; responsible people: 0`. */
export function evidenceOf(
  type: CardType,
  facts: readonly Fact[],
  values: readonly unknown[],
): string | null {
  const said = facts.flatMap((fact, n) => {
    if (!('field' in fact)) return [`${fact.count}: ${values[n]}`];
    const name = fact.field.replace(/^attributes\./, '');
    // the rule is about several types, of which this one has no such field
    if (name !== fact.field && !type.fields.has(name)) return [];
    return [`${name}: ${values[n] ?? 'not set'}`];
  });
  return said.length > 0 ? said.join('; ') : null;
}

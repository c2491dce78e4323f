import type { Condition } from '../../kernel/lists/lists.types.ts';
import type { CheckedCondition, CheckedNode } from './filters.check.ts';
import type { FilterColumn, FilterTarget } from './filters.fields.ts';
import { type Asker, isJsonPresent, isLike, isPerson, testColumn, testJson } from './filters.predicates.ts';
import { combine, type Fragment, negate, raw, sql, total } from './filters.sql.ts';

export interface CompileOptions {
  /** Whom `me` names. */
  me: Asker;
  /** Which related cards count, over the alias `c` of `cards`; all where it is absent. */
  visible?: Condition;
}

/** The columns of `cards` that are never NULL. */
const FILLED: ReadonlySet<FilterColumn> = new Set([
  'id',
  'type',
  'name',
  'status',
  'approval_status',
  'data_quality',
  'created_at',
  'updated_at',
]);

/** Those in which an empty text is as good as none. */
const TEXTS: ReadonlySet<FilterColumn> = new Set(['subtype', 'name', 'alias', 'description', 'external_id']);

/**
 * Compiles a checked filter to a condition over the alias `c` of `cards`, for a WHERE clause; its `?` stand for all that users have given.
 * Within `not` a condition is turned as a whole, so that an empty field never makes both a condition and its
 * negation fail; the condition itself may be NULL, which a WHERE clause takes for false.
 */
export function compileFilter(root: CheckedNode, { me, visible }: CompileOptions): Condition {
  let aliases = 0;
  // most callers see every card, which costs no join
  const restriction = visible === undefined || visible.sql === 'true' ? undefined : visible;

  function node(item: CheckedNode, negated: boolean, types: CardTypes): Fragment {
    if (item.kind === 'not') return node(item.item, !negated, types);
    if (item.kind !== 'condition') {
      // negation goes down to the conditions, where indexes can still serve what is not negated
      const word = negated === (item.kind === 'and') ? 'or' : 'and';
      const narrowed = item.kind === 'and' && !negated ? narrow(types, item.items) : types;
      return combine(
        word,
        item.items.map((part) => node(part, negated, narrowed)),
      );
    }
    if (item.steps.length === 0) return turned(onCard('c', item), item.negated !== negated);
    return turned(onRelations('c', item, 0, types), negated);
  }

  /** Asks for a relation of the condition's step that fits what follows. */
  function onRelations(card: string, condition: CheckedCondition, depth: number, types: CardTypes): Fragment {
    const step = condition.steps[depth]!;
    const isLast = depth === condition.steps.length - 1;
    const either = step.other ? [step.other] : (['source', 'target'] as const);
    // asking about one end lets the database join, which asking about one or the other does not
    const ends = either.filter((other) => !types || types.has(step.ends[opposite(other)]));
    const isFound = combine(
      'or',
      ends.map((other) => {
        aliases += 1;
        const relation = `r${aliases}`;
        const otherCard = `c${aliases}`;
        const own = opposite(other);
        const conditions = [
          sql`${raw(relation)}.type = ${step.type}`,
          raw(`${relation}.${own}_id = ${card}.id`),
        ];
        if (restriction) {
          conditions.push(
            sql`exists (select from cards c where c.id = ${raw(relation)}.${raw(other)}_id and (${restriction}))`,
          );
        }
        if (!isLast)
          conditions.push(onRelations(otherCard, condition, depth + 1, new Set([step.ends[other]])));
        else if (condition.target) {
          const fragment =
            step.about === 'card' ? onCard(otherCard, condition) : onRelation(relation, condition);
          conditions.push(turned(fragment, condition.negated));
        }
        const needsCard = !isLast || (condition.target && step.about === 'card');
        const join = needsCard ? ` join cards ${otherCard} on ${otherCard}.id = ${relation}.${other}_id` : '';
        const where = combine('and', conditions);
        return total(sql`exists (select from relations ${raw(relation + join)} where ${where})`);
      }),
    );
    return turned(isFound, isLast && !condition.target && condition.negated);
  }

  function onRelation(relation: string, condition: CheckedCondition): Fragment {
    const target = condition.target!;
    if (target.kind === 'attribute') return onJson(`${relation}.attributes`, target.key, condition);
    return onColumn(raw(`${relation}.description`), condition);
  }

  function onCard(card: string, condition: CheckedCondition): Fragment {
    const target = condition.target!;
    switch (target.kind) {
      case 'column':
        return onCardColumn(card, target.column, condition);
      case 'attribute':
        return onJson(`${card}.attributes`, target.key, condition);
      case 'lifecycle':
        return onColumn(sql`(${raw(card)}.lifecycle ->> ${target.phase}::text)`, condition);
      case 'tags':
        return onTags(card, target, condition);
      case 'people':
        return onPeople(card, target, condition);
    }
  }

  function onCardColumn(card: string, column: FilterColumn, condition: CheckedCondition): Fragment {
    const value = raw(`${card}.${column}`);
    if (condition.tests === 'present') {
      return TEXTS.has(column) ? total(sql`coalesce(${value}, '') <> ''`) : total(sql`${value} is not null`);
    }
    const tests = condition.tests.map((test) =>
      column === 'name' && test.kind === 'text' && test.operator !== 'in'
        ? isLike(raw(`${card}.name_key`), test.operator, test.values[0]!)
        : testColumn(value, test, me),
    );
    const fragment = combine('or', tests);
    return FILLED.has(column) ? total(fragment) : fragment;
  }

  function onColumn(value: Fragment, { tests }: CheckedCondition): Fragment {
    if (tests === 'present') return total(sql`coalesce(${value}, '') <> ''`);
    return combine(
      'or',
      tests.map((test) => testColumn(value, test, me)),
    );
  }

  function onJson(column: string, key: string, { tests }: CheckedCondition): Fragment {
    if (tests === 'present') return isJsonPresent(raw(column), key);
    return combine(
      'or',
      tests.map((test) => testJson(raw(column), key, test)),
    );
  }

  function onTags(
    card: string,
    { group }: FilterTarget & { kind: 'tags' },
    { tests }: CheckedCondition,
  ): Fragment {
    const conditions = [raw(`ct.card_id = ${card}.id`)];
    if (tests !== 'present') {
      const names = tests.flatMap((test) => (test.kind === 'tag' ? test.values : []));
      conditions.push(
        combine(
          'or',
          names.map(
            ({ groupId, name }) =>
              sql`(t.tag_group_id = ${groupId}::uuid and lower(t.name) = lower(${name}::text))`,
          ),
        ),
      );
    } else if (group) conditions.push(sql`t.tag_group_id = ${group.id}::uuid`);
    const from = raw('card_tags ct join tags t on t.id = ct.tag_id');
    return total(sql`exists (select from ${from} where ${combine('and', conditions)})`);
  }

  function onPeople(
    card: string,
    { role }: FilterTarget & { kind: 'people' },
    { tests }: CheckedCondition,
  ): Fragment {
    const conditions = [raw(`s.card_id = ${card}.id`)];
    if (role !== undefined) conditions.push(sql`s.role = ${role}`);
    if (tests !== 'present') {
      const people = tests.flatMap((test) => (test.kind === 'person' ? test.values : []));
      conditions.push(isPerson(raw('s.user_id'), people, me));
    }
    return total(sql`exists (select from stakeholders s where ${combine('and', conditions)})`);
  }

  const { sql: text, bindings } = node(root, false, undefined);
  return { sql: text, bindings };
}

/** The types that a card may have; undefined for any. */
type CardTypes = ReadonlySet<string> | undefined;

const opposite = (end: 'source' | 'target') => (end === 'source' ? 'target' : 'source');

/** The types that a card may have for which all of the items hold. */
function narrow(types: CardTypes, items: CheckedNode[]): CardTypes {
  let narrowed = types;
  for (const item of items) {
    if (item.kind !== 'condition' || item.steps.length > 0 || item.negated || item.tests === 'present')
      continue;
    if (item.target?.kind !== 'column' || item.target.column !== 'type') continue;
    const named = new Set(item.tests.flatMap((test) => (test.kind === 'key' ? test.values : [])));
    narrowed = narrowed ? new Set([...narrowed].filter((type) => named.has(type))) : named;
  }
  return narrowed;
}

const turned = (fragment: Fragment, negated: boolean): Fragment => (negated ? negate(fragment) : fragment);

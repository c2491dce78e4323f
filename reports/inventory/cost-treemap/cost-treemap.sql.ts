import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import type { CardType } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { distinctLabels } from '../../kernel/charts/charts.labels.ts';
import { relatedPairs } from '../../kernel/report.ends.ts';
import { attributesOnce, literal, numberIn } from '../../kernel/report.sql.ts';

/** The name of the group of those that belong to none. */
export const REST = 'Ungrouped';

/**
 * The groups by card, as a common table `grouped (card_id, group_id, name)`: the related card of the other type; of
 * several the first by name, so that the groups add up to the total.
 */
export function groupsByType(ctx: Ctx, type: string, other: string, visible: Fragment): Fragment {
  const pairs = relatedPairs(ctx, type, other);
  return {
    sql: `grouped as (
      select distinct on (e.card_id) e.card_id, c.id as group_id, c.name
      from (${pairs.sql}) e join cards c on c.id = e.other_id
      where c.type = ? and ${visible.sql}
      order by e.card_id, c.name_key, c.id)`,
    bindings: [...pairs.bindings, other, ...visible.bindings],
  };
}

/** The label of a select field's option, over the alias `c`; options of one label have their keys in brackets. */
export function groupOfField(type: CardType, key: string): Fragment {
  const options = [...type.fields.get(key)!.optionLabels].map(([option, name]) => ({ option, name }));
  const names = distinctLabels([...options, { option: undefined, name: REST }], ({ option }) =>
    option === undefined ? [] : [option],
  );
  const labels = Object.fromEntries(options.map(({ option }, at) => [option, names[at]!]));
  return {
    sql: `?::jsonb ->> (c.attributes ->> ${literal(key)})`,
    bindings: [JSON.stringify(labels)],
  };
}

/**
 * The costs of related cards by card, as a common table `added (card_id, cost)`. A related card counts once for each
 * card that it is related to.
 */
export function addedCosts(
  ctx: Ctx,
  type: string,
  others: readonly string[],
  costField: string,
  visible: Fragment,
): Fragment {
  const pairs = others.map((other) => relatedPairs(ctx, type, other));
  const all = pairs.map((pair) => pair.sql).join(' union all ');
  // cards of different types are different in any case
  const once = pairs.find((pair) => pair.once)?.once ?? '';
  return {
    // a cost is read once for each card, and not for each of its relations
    sql: `added as (
      select e.card_id, sum(o.cost) as cost
      from (select ${once} card_id, other_id from (${all}) every) e
      join (select c.id, ${numberIn('v.attributes', costField)} as cost
            from cards c ${attributesOnce} where c.type = any(?::text[]) and ${visible.sql} offset 0) o on o.id = e.other_id
      group by e.card_id)`,
    bindings: [...pairs.flatMap((pair) => pair.bindings), [...others], ...visible.bindings],
  };
}

import type { Chart } from '../../kernel/charts/charts.types.ts';

/** How many people a picture shows. */
const SHOWN = 50;

interface Shown {
  card_types: {
    roles: { users: { user_id: string; display_name: string; card_count: number }[] }[];
  }[];
}

/** Who holds the most roles on cards. */
export function stakeholderDirectoryChart({ card_types }: Shown): Chart {
  const people = new Map<string, { name: string; roles: number }>();
  for (const { user_id, display_name, card_count } of card_types
    .flatMap(({ roles }) => roles)
    .flatMap(({ users }) => users)) {
    const person = people.get(user_id) ?? { name: display_name, roles: 0 };
    person.roles += card_count;
    people.set(user_id, person);
  }
  const most = [...people.values()].sort((a, b) => b.roles - a.roles).slice(0, SHOWN);
  return {
    kind: 'bars',
    title: 'Stakeholders',
    ...(people.size > SHOWN ? { note: `The ${SHOWN} of ${people.size} people with the most roles` } : {}),
    itemAxis: 'Person',
    valueAxis: 'Roles on cards',
    unit: 'count',
    series: ['Roles'],
    items: most.map(({ name, roles }) => ({ name, values: [roles] })),
  };
}

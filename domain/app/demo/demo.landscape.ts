import { applications } from './applications.data.ts';
import { capabilities } from './capabilities.data.ts';
import { isMonthsFromToday, resolveDay } from './demo.dates.ts';
import { expandRelations } from './demo.relations.ts';
import type { DemoCard, DemoCardSource, DemoLandscape } from './demo.types.ts';
import { dataObjects, interfaces } from './interfaces.data.ts';
import { businessContexts, organisations } from './organisation.data.ts';
import { stakeholderRows, tagGroups, users } from './people.data.ts';
import { processes } from './processes.data.ts';
import { providers } from './providers.data.ts';
import { businessRelations } from './relations-business.data.ts';
import { systemRelations } from './relations-systems.data.ts';
import { initiatives, objectives } from './strategy.data.ts';
import { itComponents, platforms, techCategories } from './technology.data.ts';

/** In an order in which a parent stands before its children. */
const sources: DemoCardSource[] = [
  ...organisations,
  ...businessContexts,
  ...capabilities,
  ...processes,
  ...objectives,
  ...platforms,
  ...initiatives,
  ...applications,
  ...interfaces,
  ...dataObjects,
  ...techCategories,
  ...itComponents,
  ...providers,
];

function cardOn(today: string, { lifecycle, attributes, ...rest }: DemoCardSource): DemoCard {
  const card: DemoCard = {
    ...rest,
    attributes: Object.fromEntries(
      Object.entries(attributes).map(([key, value]) => [
        key,
        isMonthsFromToday(value) ? resolveDay(today, value.months) : value,
      ]),
    ),
  };
  if (lifecycle) {
    card.lifecycle = Object.fromEntries(
      Object.entries(lifecycle).map(([phase, day]) => [phase, resolveDay(today, day)]),
    );
  }
  return card;
}

/**
 * The landscape of Larkfield Mutual, an imaginary insurer, as it stands on `today` (an ISO date): its plans and
 * contracts move with that day, so that the demo never looks old. Always the same for the same day.
 */
export function demoLandscape(today: string): DemoLandscape {
  return {
    cards: sources.map((source) => cardOn(today, source)),
    relations: [...businessRelations, ...systemRelations].flatMap(expandRelations),
    tagGroups,
    users,
    stakeholders: stakeholderRows.flatMap(([email, role, cards]) =>
      cards.split(' ').map((card_external_id) => ({ card_external_id, email, role })),
    ),
  };
}

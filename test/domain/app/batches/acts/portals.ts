import type { Act } from './hand.ts';

const portals = '/web-portals';
const shown = [['description', 'lifecycle'], ['tags', 'relations.relAppToITC'], ['businessCriticality'], []];

const make: Act = (hand) =>
  hand.send('POST', portals, {
    name: hand.name('Portal'),
    slug: `portal-${hand.below(20)}`,
    card_type: 'Application',
    display_fields: hand.one(shown),
    is_published: hand.chance(0.5),
  });
const edit: Act = async (hand) => {
  const portal = await hand.row('web_portals');
  const values = hand.one<object>([
    { is_published: hand.chance(0.5) },
    { slug: `portal-${hand.below(20)}` },
    { display_fields: hand.one(shown), card_config: { indexed: true } },
    { filters: { filter: 'approval_status = APPROVED' } },
    { filters: null, description: hand.one([null, 'About']) },
  ]);
  if (portal) await hand.send('PATCH', `${portals}/${portal.id}`, values);
};
const remove: Act = async (hand) => {
  const portal = await hand.row('web_portals');
  if (portal) await hand.send('DELETE', `${portals}/${portal.id}`);
};

/** Writes of web portals, with how often each is chosen. */
export const portalActs: [Act, number][] = [
  [make, 3],
  [edit, 3],
  [remove, 1],
];

import { isCritical } from './architect.gaps.ts';
import type { Brief } from './architect.propose.ts';
import type { Architecture, Dependency } from './architect.types.ts';

/** Dependencies that an answer names at most; those of retired applications come first. */
const MOST = 1000;

/** What has to be done about a card that hangs on a retired application, by its type. */
const moves = new Map([
  ['Organization', 'has to be moved to what takes its place'],
  ['Interface', 'has to be served by what takes its place, or given up'],
  ['DataObject', 'has to be migrated'],
  ['ITComponent', 'may become free'],
  ['BusinessProcess', 'has to be supported by what takes its place'],
  ['Application', 'has to be joined to what takes its place'],
  ['Provider', 'has to be informed, and contracts ended'],
]);

/** What hangs on the stored applications that an architecture touches. */
export function findDependencies({ metamodel, facts }: Brief, { cards }: Architecture): Dependency[] {
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

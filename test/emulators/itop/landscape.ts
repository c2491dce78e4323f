import type { ItopEmulator } from './server.ts';
import type { Item } from './store.ts';

/** Fills an instance: servers whose names are in another order than their keys, applications, links, and what lies between. */
export function populate(
  { elsewhere }: Pick<ItopEmulator, 'elsewhere'>,
  { servers, applications = 0 }: { servers: number; applications?: number },
): { org: Item; other: Item; location: Item; servers: Item[]; applications: Item[]; links: Item[] } {
  const org = elsewhere.insert('Organization', { name: 'Demo', code: 'DEMO' });
  const other = elsewhere.insert('Organization', { name: 'Other', code: 'OTHER' });
  const location = elsewhere.insert('Location', { name: 'Grenoble', org_id: org.id });
  elsewhere.insert('UserRequest', { title: 'A request', org_id: org.id });
  const made: Item[] = [];
  for (let at = 0; at < servers; at += 1) {
    // objects of other classes take keys of the same root
    if (at % 3 === 0) elsewhere.insert('NetworkDevice', { name: `Switch ${at}`, org_id: org.id });
    made.push(
      elsewhere.insert('Server', {
        name: `Server ${(at * 7919) % 1000}`,
        org_id: org.id,
        status: 'production',
        location_id: location.id,
      }),
    );
  }
  const apps = Array.from({ length: applications }, (_, at) =>
    elsewhere.insert('ApplicationSolution', { name: `Application ${at}`, org_id: org.id, status: 'active' }),
  );
  const links = apps.map((application, at) =>
    elsewhere.insert('lnkApplicationSolutionToFunctionalCI', {
      applicationsolution_id: application.id,
      functionalci_id: made[at % made.length]!.id,
    }),
  );
  return { org, other, location, servers: made, applications: apps, links };
}

import { createCards } from '../../../domain/inventory/cards/bulk/bulk.create.ts';
import { patchCard } from '../../../domain/inventory/cards/cards.write.ts';
import { between, mix, mulberry32, pick, type Random } from '../../bench/landscape/random.ts';
import { serverCertificate } from '../../emulators/certificates.ts';
import { faults as itopFaults } from '../../emulators/itop/faults.ts';
import { populate as populateItop } from '../../emulators/itop/landscape.ts';
import { startItop } from '../../emulators/itop/server.ts';
import { faults as netboxFaults } from '../../emulators/netbox/faults.ts';
import { populate as populateNetBox } from '../../emulators/netbox/landscape.ts';
import { startNetBox } from '../../emulators/netbox/server.ts';
import type { FaultScript } from '../../emulators/scripted-faults.ts';
import { createVirtualClock, type VirtualClock } from '../../emulators/virtual-clock.ts';
import type { TestApp } from '../../support/harness.ts';
import { connectKind, createSync } from '../../support/itsm.ts';
import { createDriver } from './drive.ts';
import { askedAbout, type Parts } from './world.ts';

/** Things of a remote other than ServiceNow, as people over there see them. */
interface Remote {
  /** What can be made to go wrong. */
  faults: readonly string[];
  arm(script: FaultScript<string, never>): void;
  heal(): void;
  fired: ReadonlyMap<string, number>;
  connection: { address: string; more: object };
  mapping: object;
  /** Whether cards that are made here become records. */
  takesNew: boolean;
  /** Names with the text that is kept in step. */
  things(): [name: string, text: string][];
  insert(name: string, text: string): void;
  edit(name: string, text: string): void;
  remove(name: string): void;
  close(): Promise<void>;
}

/** Things that are there in the beginning. */
const COUNT = 12;
/** Scenarios at most after all others, while no fault has affected a call. */
const MORE = 10;
/** Runs after which a remote that is well must be in step. */
const PATIENCE = 5;

const remotes: Record<'itop' | 'netbox', (clock: VirtualClock) => Promise<Remote>> = {
  async itop(clock) {
    const instance = await startItop({ tls: serverCertificate, clock });
    const { org } = populateItop(instance, { servers: COUNT });
    const all = () => instance.store.of('Server');
    const named = (name: string) => all().find(({ values }) => values.name === name)!;
    return {
      faults: itopFaults,
      arm: (script) => instance.faults.arm(script as never),
      heal: () => instance.faults.clear(),
      fired: instance.faults.fired,
      connection: {
        address: instance.base,
        more: { auth_type: 'basic', username: 'estate', password: 'secret', time_zone: 'Europe/Paris' },
      },
      mapping: { remote_table: 'Server', record_defaults: { org_id: 'Demo' } },
      takesNew: true,
      things: () => all().map(({ values }) => [String(values.name), String(values.description ?? '')]),
      insert: (name, description) =>
        void instance.elsewhere.insert('Server', { name, description, org_id: org.id }),
      edit: (name, description) => instance.elsewhere.update(named(name), { description }),
      remove: (name) => instance.elsewhere.remove(named(name)),
      close: () => instance.close(),
    };
  },
  async netbox(clock) {
    const netbox = await startNetBox({ tls: serverCertificate, clock });
    const { sites, role } = populateNetBox(netbox, COUNT);
    const table = 'dcim/devices';
    const { store } = netbox;
    const idOf = (name: string) => store.rows(table).find((row) => row.name === name)!.id as number;
    return {
      faults: netboxFaults,
      arm: (script) => netbox.faults.arm(script as never),
      heal: () => netbox.faults.clear(),
      fired: netbox.faults.fired,
      connection: { address: netbox.base, more: { token: 'nbt_estate.secret' } },
      mapping: { remote_table: table },
      takesNew: false,
      things: () =>
        store.rows(table).map(({ name, description }) => [String(name), String(description ?? '')]),
      insert: (name, description) =>
        void store.insert(table, { name, description, role: role.id, site: sites[0]!.id, status: 'active' }),
      edit: (name, description) => void store.update(table, idOf(name), { description }),
      remove: (name) => void store.remove(table, idOf(name)),
      close: () => netbox.close(),
    };
  },
};

/**
 * Has people on both sides work while a remote fails at random, and looks whether both sides agree once it is well.
 * @returns how many calls each fault has affected. @throws Error that describes what differs.
 */
export async function runRemoteScenarios(
  t: TestApp,
  kind: keyof typeof remotes,
  { seed, scenarios }: { seed: number; scenarios: number },
): Promise<ReadonlyMap<string, number>> {
  const random = mulberry32(mix(seed, 11));
  const clock = createVirtualClock(Date.now());
  const remote = await remotes[kind](clock);
  const driver = createDriver(t.services, clock, 10);
  const admin = await t.as('admin');
  const parts: Parts = { services: t.services, ctx: await t.ctx() };
  try {
    const { address, more } = remote.connection;
    const mapping = await createSync(admin, 'mappings', {
      connection_id: await connectKind(admin, kind, address, more),
      card_type_key: 'ITComponent',
      sync_direction: 'bidirectional',
      sync_mode: 'strict',
      quarantine_minutes: 0,
      max_deletion_ratio: 1,
      auto_apply: true,
      field_mappings: [
        { card_field: 'name', remote_field: 'name', is_identity: true },
        { card_field: 'description', remote_field: 'description' },
      ],
      ...remote.mapping,
    });
    const settle = async () => {
      remote.heal();
      // a circuit that is open closes again
      clock.advance(3_600_000);
      for (let runs = 1; runs <= PATIENCE; runs += 1) {
        const { run, changes } = await driver.run(parts, mapping, { complete: runs > 1 });
        if (run.status !== 'completed')
          throw new Error(`a run of a remote that is well: ${run.status}, ${run.error_message}`);
        if (runs > 1 && changes === 0) return;
      }
      throw new Error(`after ${PATIENCE} runs there is still something to be done`);
    };
    await settle();
    const last = () => (remote.fired.size > 0 ? scenarios : scenarios + MORE);
    for (let at = 1; at <= last(); at += 1) {
      await workOnBothSides(parts, remote, random, `${kind}${at}`);
      const scripts = Array.from({ length: between(random, 1, 2) }, () => ({
        fault: pick(random, remote.faults),
        nth: between(random, 1, 8),
        times: between(random, 1, 3),
      }));
      for (const script of scripts) remote.arm(script);
      await driver.run(parts, mapping, { complete: random() < 0.3 });
      await settle();
      const asked = await askedAbout(parts, 'card_id');
      const things = remote.things();
      const outside = new Set(things.map(([name]) => name));
      // what a fault has removed over there while somebody changed it here is rightly left until a person has decided
      const here = (await cardsHere(parts))
        .filter(({ id, name }) => outside.has(name) || !asked.has(id))
        .map(({ name, description }) => `${name}: ${description ?? ''}`);
      const there = things.map(([name, text]) => `${name}: ${text}`);
      if (JSON.stringify(here.sort()) === JSON.stringify(there.sort())) continue;
      const [onlyHere, onlyThere] = [
        here.filter((one) => !there.includes(one)),
        there.filter((one) => !here.includes(one)),
      ];
      throw new Error(
        `${kind}, scenario ${at} with seed ${seed} (${JSON.stringify(scripts)}): only here ${onlyHere.join(' | ')}; only there ${onlyThere.join(' | ')}; ${here.length} and ${there.length}`,
      );
    }
    return remote.fired;
  } finally {
    await driver.close();
    await remote.close();
    await t.services.db('cards').where({ type: 'ITComponent' }).delete();
  }
}

const cardsHere = async ({
  services,
}: Parts): Promise<{ id: string; name: string; description: string | null }[]> =>
  await services
    .db('cards')
    .where({ type: 'ITComponent', status: 'ACTIVE' })
    .orderBy('name')
    .select('id', 'name', 'description');

/** Edits, makes and removes things, each of which only one person touches. */
async function workOnBothSides(parts: Parts, remote: Remote, random: Random, mark: string): Promise<void> {
  const outside = new Set(remote.things().map(([name]) => name));
  // a card that waits for a decision has nothing outside that could be changed
  const cards = (await cardsHere(parts)).filter(({ name }) => outside.has(name));
  const chosen = new Set<number>();
  while (chosen.size < Math.min(5, cards.length)) chosen.add(between(random, 0, cards.length - 1));
  const [a, b, c, d, e] = [...chosen].map((at) => cards[at]!);
  for (const [n, card] of [a, b].entries())
    if (card) await patchCard(parts.ctx, card.id, { description: `${mark} here ${n}` });
  for (const [n, card] of [c, d].entries()) if (card) remote.edit(card.name, `${mark} there ${n}`);
  if (e && random() < 0.5) remote.remove(e.name);
  // names that are alike would be a question to people
  remote.insert(`${mark} granary`, mark);
  if (!remote.takesNew) return;
  await createCards(
    parts.ctx,
    [{ row_index: 0, type: 'ITComponent', name: `${mark} lighthouse`, description: `${mark} new` }],
    false,
  );
}

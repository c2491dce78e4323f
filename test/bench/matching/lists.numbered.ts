import type { MatchField } from '../../../integrations/analysis/matching/matching.types.ts';
import { type Judged, pairKey } from './judged.ts';
import { Random } from './planted.ts';

const split = (text: string): string[] => text.split(' ');

/** Subjects and roles in nine languages. */
const LANGUAGES = [
  [
    'Customer Order Stock Claims Payroll Fleet Contract Energy',
    'portal register planner archive monitor hub',
  ],
  [
    'Kunden Auftrag Lager Schaden Lohn Fuhrpark Vertrag Energie',
    'Portal Register Planung Archiv Zentrale Abgleich',
  ],
  [
    'Client Commande Stock Sinistre Paie Flotte Contrat Énergie',
    'portail registre planification archive suivi pilotage',
  ],
  [
    'Cliente Pedido Almacén Siniestro Nómina Flota Contrato Energía',
    'portal registro planificador archivo monitor central',
  ],
  [
    'Cliente Ordine Magazzino Sinistro Paghe Flotta Contratto Energia',
    'portale registro pianificatore archivio monitor centrale',
  ],
  [
    'Klant Bestelling Voorraad Schade Salaris Wagenpark Contract Energie',
    'portaal register planner archief monitor centrale',
  ],
  [
    'Klient Zamówienie Magazyn Szkoda Płace Flota Umowa Energia',
    'portal rejestr planer archiwum monitor centrala',
  ],
  [
    'Cliente Encomenda Armazém Sinistro Folha Frota Contrato Energia',
    'portal registo planeador arquivo monitor central',
  ],
  ['Kund Order Lager Skada Lön Fordon Avtal Energi', 'portal register planerare arkiv monitor nav'],
].map(([subjects, roles]) => ({ subjects: split(subjects!), roles: split(roles!) }));

const FIELDS: MatchField[] = [
  { name: 'name', kind: 'name', without: 'vendor' },
  { name: 'description', kind: 'text', weight: 0.5 },
  { name: 'parent', kind: 'choice', weight: 0.5 },
  { name: 'subtype', kind: 'choice', weight: 0.25 },
  { name: 'cost', kind: 'number', weight: 0.25 },
  { name: 'criticality', kind: 'choice', weight: 0.25 },
  { name: 'hosting', kind: 'choice', weight: 0.25 },
];

/**
 * Cards that most are named by two words and a number: `exact` copies with the same attributes, of which the name only gets a
 * full stop or `(Kopie)`, and `bare` ones with a full stop and attributes of their own.
 */
export function numbered(plan: { size: number; exact: number; bare: number }, seed: number): Judged {
  const random = new Random(seed);
  const names = new Set<string>();
  while (names.size < plan.size - plan.exact - plan.bare) {
    const { subjects, roles } = random.of(LANGUAGES);
    const number = random.happens(0.85) ? ` ${1 + random.below(1500)}` : ` ${random.word()}`;
    names.add(`${random.of(subjects)} ${random.of(roles)}${number}`);
  }
  const attributes = () => ({
    subtype: random.of(split('business platform service')),
    cost: random.happens(0.4) ? 1_000 * (1 + random.below(200)) : null,
    criticality: random.happens(0.5) ? random.of(split('low medium high')) : null,
    hosting: random.happens(0.3) ? random.of(split('cloud onPremise saas')) : null,
  });
  const describe = (name: string) =>
    random.happens(0.6)
      ? `${name} ${random.of(['supports', 'covers', 'unterstützt', 'gère'])} ${random.of(split('sales finance logistics service production'))} ${random.word()}`
      : null;
  const left = [...names].map((name, at) => ({
    id: `${at}`.padStart(7, '0'),
    values: { name, description: describe(name), ...attributes() },
  }));
  const truth = new Set<string>();
  for (let at = 0; at < plan.exact + plan.bare; at++) {
    const one = left[at * 7]!;
    const { name } = one.values;
    const id = `${left.length}`.padStart(7, '0');
    const values =
      at < plan.exact
        ? { ...one.values, name: random.happens(0.5) ? `${name}.` : `${name} (Kopie)` }
        : { name: `${name}.`, description: describe(name), ...attributes() };
    left.push({ id, values });
    truth.add(pairKey(one.id, id));
  }
  return { name: `numbered applications: ${left.length}`, left, right: null, fields: FIELDS, truth };
}

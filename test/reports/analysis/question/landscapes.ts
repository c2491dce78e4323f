import { demoLandscape } from '../../../../domain/app/demo/demo.landscape.ts';
import {
  type CardType,
  compileField,
  type Metamodel,
  type RelationType,
} from '../../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { Field } from '../../../../domain/kernel/metamodel/metamodel.types.ts';
import type { CardLookUp } from '../../../../reports/analysis/question/question.cards.ts';
import { TODAY } from './meanings.ts';

/** A landscape that questions are asked about. */
export interface AskedLandscape {
  metamodel: Metamodel;
  tags: { group: string; tag: string }[];
  cards: CardLookUp;
}

interface Named {
  type: string;
  name: string;
  attributes?: Record<string, unknown>;
}

interface Person {
  display_name: string;
  email: string;
}

/** Groups of tags by name. */
type Groups = Record<string, string[]>;

export const demoTags: Groups = Object.fromEntries(
  demoLandscape(TODAY).tagGroups.map(({ name, tags }) => [name, tags.map((tag) => tag.name)]),
);

/** The landscape that a new workspace can be filled with. */
export const demo = (metamodel: Metamodel): AskedLandscape => ({
  metamodel,
  tags: tagsOf(demoTags),
  cards: lookUpIn(demoLandscape(TODAY).cards as Named[], demoLandscape(TODAY).users),
});

export const worksTags: Groups = {
  KRITIS: ['KRITIS-relevant', 'Nicht relevant'],
  Netzgebiet: ['Nord', 'Süd'],
};

const worksCards: Record<string, string[]> = {
  Organization: [
    'Stadtwerke Ahrensfeld',
    'Team Technik Süd',
    'Team Technik Nord',
    'Kunden und Vertrieb',
    'Kundenservice',
    'IT-Betrieb',
    'Anwendungsbetreuung',
  ],
  Provider: ['SAP SE', 'Microsoft Deutschland GmbH', 'Nordlicht Software GmbH', 'Anbieter Hafenrechner'],
  Application: [
    'SAP S/4HANA',
    'Prozessportal',
    'Kundenportal',
    'Schnittstellenmonitor',
    'Netzleitsystem',
    'GIS Nord',
    'Zählerfernauslesung',
    'Lohn und Gehalt',
    'Microsoft 365',
  ],
  BusinessCapability: ['Netzbetrieb', 'Abrechnung', 'Kundenbetreuung', 'Personalwirtschaft', 'Beschaffung'],
  BusinessProcess: ['Rechnung stellen', 'Zähler ablesen', 'Störung beheben'],
  ITComponent: ['Oracle Database 19c', 'Windows Server 2019', 'SAP HANA 2.0', 'PostgreSQL 16'],
  DataObject: ['Kunde', 'Zählerstand', 'Rechnung', 'Vertrag'],
  Interface: ['Kunden-API', 'Zählerdaten-Import'],
  Initiative: ['Projekt Netz 2030', 'S/4HANA Einführung', 'Ablösung GIS Nord'],
  Site: ['Werk Nord', 'Werk Süd', 'Rechenzentrum Hafen'],
};

const formats: Record<string, Record<string, unknown>> = {
  'Kunden-API': { dataFormat: 'JSON', protocol: 'REST' },
  'Zählerdaten-Import': { dataFormat: 'CSV', protocol: 'SFTP' },
};

/** A public utility whose own types and fields are named in German only, and whose cards are named like types. */
export function works(metamodel: Metamodel): AskedLandscape {
  const application = metamodel.cardTypes.get('Application')!;
  const own: Field[] = [
    { key: 'rto', label: 'RTO (Stunden)', type: 'number', weight: 1 },
    { key: 'supportEnd', label: 'Supportende', type: 'date', weight: 1 },
    {
      key: 'protection',
      label: 'Schutzbedarf',
      type: 'single_select',
      weight: 1,
      options: ['Normal', 'Hoch', 'Sehr hoch'].map((label) => ({ key: label.replace(' ', ''), label })),
    },
  ];
  const site: CardType = {
    ...metamodel.cardTypes.get('TechCategory')!,
    key: 'Site',
    label: 'Standort',
    translations: { plural: { de: 'Standorte' } },
    plural: 'Standorte',
  };
  const toSite: RelationType = {
    ...metamodel.relationTypes.get('relAppToITC')!,
    key: 'relAppToSite',
    label: 'wird genutzt an',
    reverse_label: 'nutzt',
    translations: {},
    target_type_key: 'Site',
    attributes_schema: [],
    fields: new Map(),
  };
  const extended: CardType = {
    ...application,
    fields_schema: [...application.fields_schema, { section: 'Betrieb', fields: own }],
    fields: new Map([
      ...application.fields,
      ...own.map((field) => [field.key, compileField(field)] as const),
    ]),
  };
  return {
    metamodel: {
      ...metamodel,
      cardTypes: new Map([...metamodel.cardTypes, ['Application', extended], ['Site', site]]),
      relationTypes: new Map([...metamodel.relationTypes, ['relAppToSite', toSite]]),
      visibleTypes: [...metamodel.visibleTypes, 'Site'],
      visibleRelationTypes: [...metamodel.visibleRelationTypes, 'relAppToSite'],
    },
    tags: tagsOf(worksTags),
    cards: lookUpIn(
      Object.entries(worksCards).flatMap(([type, names]) =>
        names.map((name) => ({ type, name, attributes: formats[name] ?? {} })),
      ),
      [{ display_name: 'Heike Brandt', email: 'heike.brandt@ahrensfeld.example' }],
    ),
  };
}

const tagsOf = (groups: Groups) =>
  Object.entries(groups).flatMap(([group, tags]) => tags.map((tag) => ({ group, tag })));

const wordsIn = (text: string) => ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')} `;

const lookUpIn = (cards: readonly Named[], users: readonly Person[]): CardLookUp => ({
  named: (names) => {
    const asked = new Set(names.map((name) => name.toLowerCase()));
    return Promise.resolve(cards.filter(({ name }) => asked.has(name.toLowerCase())));
  },
  containing: (texts) =>
    Promise.resolve(
      texts.flatMap((text) => {
        const found = cards.filter(({ name }) => wordsIn(name).includes(wordsIn(text)));
        return [...new Set(found.map(({ type }) => type))].map((type) => ({ type, name: text }));
      }),
    ),
  valued: (fields, texts) =>
    Promise.resolve(
      fields.flatMap(({ type, key }) =>
        texts
          .filter((text) =>
            cards.some(
              (card) =>
                card.type === type && wordsIn(String(card.attributes?.[key] ?? '')).includes(wordsIn(text)),
            ),
          )
          .map((text) => ({ type, key, text })),
      ),
    ),
  people: (names) =>
    Promise.resolve(
      users
        .filter((user) => names.some((name) => name.toLowerCase() === user.display_name.toLowerCase()))
        .map(({ display_name, email }) => ({ name: display_name, email })),
    ),
});

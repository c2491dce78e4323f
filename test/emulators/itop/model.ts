/** An attribute of a class, as far as it shows outside. */
export interface Attribute {
  kind: 'text' | 'integer' | 'date' | 'enum' | 'key' | 'links';
  /** Of an external key: the class that it leads to. */
  target?: string;
  /** Of links: their class, and the attribute of it that leads back. */
  links?: { class: string; back: string };
  values?: string[];
  mandatory?: boolean;
}

export interface ClassModel {
  parent?: string;
  abstract?: true;
  attributes: Record<string, Attribute>;
  /** The attribute that objects are called by, and ordered by where nothing else is asked. */
  name: string;
}

const text: Attribute = { kind: 'text' };
const named = { name: { kind: 'text', mandatory: true } as Attribute };
const key = (target: string, mandatory = false): Attribute => ({ kind: 'key', target, mandatory });

const history: Record<string, Attribute> = {
  change: { kind: 'integer' },
  date: text,
  userinfo: text,
  objclass: text,
  objkey: { kind: 'integer' },
};

/** A part of the public data model, with its inheritance. */
export const model: Record<string, ClassModel> = {
  Organization: { attributes: { ...named, code: text }, name: 'name' },
  Location: { attributes: { ...named, org_id: key('Organization', true) }, name: 'name' },
  Contact: { abstract: true, attributes: { ...named, org_id: key('Organization', true) }, name: 'name' },
  Person: { parent: 'Contact', attributes: { first_name: text }, name: 'name' },
  FunctionalCI: {
    abstract: true,
    attributes: {
      ...named,
      description: text,
      org_id: key('Organization', true),
      business_criticity: { kind: 'enum', values: ['high', 'medium', 'low'] },
      move2production: { kind: 'date' },
    },
    name: 'name',
  },
  PhysicalDevice: {
    parent: 'FunctionalCI',
    abstract: true,
    attributes: {
      serialnumber: text,
      location_id: key('Location'),
      status: { kind: 'enum', values: ['production', 'implementation', 'stock', 'obsolete'] },
    },
    name: 'name',
  },
  Server: {
    parent: 'PhysicalDevice',
    attributes: { cpu: text, nb_u: { kind: 'integer' }, powerA_id: key('FunctionalCI') },
    name: 'name',
  },
  NetworkDevice: { parent: 'PhysicalDevice', attributes: { ram: text }, name: 'name' },
  ApplicationSolution: {
    parent: 'FunctionalCI',
    attributes: {
      status: { kind: 'enum', values: ['active', 'inactive'] },
      functionalcis_list: {
        kind: 'links',
        links: { class: 'lnkApplicationSolutionToFunctionalCI', back: 'applicationsolution_id' },
      },
    },
    name: 'name',
  },
  UserRequest: { attributes: { title: text, org_id: key('Organization') }, name: 'title' },
  lnkApplicationSolutionToFunctionalCI: {
    attributes: {
      applicationsolution_id: key('ApplicationSolution', true),
      functionalci_id: key('FunctionalCI', true),
    },
    name: 'id',
  },
  lnkContactToFunctionalCI: {
    attributes: { contact_id: key('Contact', true), functionalci_id: key('FunctionalCI', true) },
    name: 'id',
  },
  CMDBChangeOp: { abstract: true, attributes: history, name: 'change' },
  CMDBChangeOpCreate: { parent: 'CMDBChangeOp', attributes: {}, name: 'change' },
  CMDBChangeOpDelete: { parent: 'CMDBChangeOp', attributes: { fclass: text, fname: text }, name: 'change' },
  CMDBChangeOpSetAttributeScalar: {
    parent: 'CMDBChangeOp',
    attributes: { attcode: text, oldvalue: text, newvalue: text },
    name: 'change',
  },
};

/** A class and those it extends, itself first. */
export function lineage(name: string): string[] {
  const parent = model[name]?.parent;
  return parent === undefined ? [name] : [name, ...lineage(parent)];
}

export const rootOf = (name: string): string => lineage(name).at(-1)!;

export const hasChildren = (name: string): boolean =>
  Object.values(model).some(({ parent }) => parent === name);

/** The attributes of a class, inherited ones first. */
export const attributesOf = (name: string): Record<string, Attribute> =>
  Object.assign(
    {},
    ...lineage(name)
      .reverse()
      .map((one) => model[one]!.attributes),
  );

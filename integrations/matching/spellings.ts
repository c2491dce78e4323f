/** What is written short in names, under what it stands for. A word that stands for several things is left out. */
const SHORT: Record<string, string> = {
  accounting: 'acct acctg',
  and: 'und et och og',
  administration: 'admin admn',
  application: 'app appl apps applications',
  assistant: 'asst',
  association: 'assn assoc',
  business: 'biz bus',
  center: 'centre ctr cntr',
  catalog: 'catalogue',
  communication: 'comm comms',
  company: 'cmpny',
  customer: 'cust',
  database: 'db',
  department: 'dept',
  development: 'devt',
  document: 'doc docs documents',
  distribution: 'distr',
  engineering: 'eng engg',
  enterprise: 'entpr',
  finance: 'fin',
  government: 'govt',
  information: 'info',
  international: 'intl',
  kubernetes: 'k8s',
  inventory: 'inv',
  license: 'licence lic',
  maintenance: 'maint mntc',
  management: 'mgmt mgt mngmt mgmnt',
  manager: 'mgr',
  manufacturing: 'mfg manuf',
  marketing: 'mktg mkt',
  microsoft: 'ms',
  national: 'natl',
  number: 'nr',
  operations: 'ops',
  organisation: 'organization org',
  planning: 'plng',
  procurement: 'proc',
  production: 'prodn',
  program: 'programme prog',
  project: 'proj',
  purchasing: 'purch',
  quality: 'qual',
  reporting: 'rpt rptg',
  repository: 'repo',
  requirement: 'req reqs requirements',
  scheduling: 'sched',
  school: 'sch',
  service: 'svc svcs srv services',
  software: 'sw',
  standard: 'std',
  system: 'sys syst systems',
  technology: 'tech technologies',
  transaction: 'txn trx',
  transport: 'transp',
  university: 'univ',
  warehouse: 'whse',
};

/** Parts of street addresses, under what they stand for. */
const STREETS: Record<string, string> = {
  street: 'st str strasse straat',
  avenue: 'ave av',
  boulevard: 'blvd bd boul',
  road: 'rd',
  drive: 'dr',
  lane: 'ln',
  place: 'pl platz',
  square: 'sq',
  court: 'ct',
  parkway: 'pkwy pky',
  highway: 'hwy',
  terrace: 'ter terr',
  circle: 'cir',
  suite: 'ste',
  floor: 'fl',
  room: 'rm',
  apartment: 'apt',
  building: 'bldg',
  north: 'n',
  south: 's',
  east: 'e',
  west: 'w',
  first: '1st',
  second: '2nd',
  third: '3rd',
};

const spelledBy = (lists: Record<string, string>) =>
  new Map(
    Object.entries(lists).flatMap(([word, others]) =>
      others.split(' ').map((other) => [other, word] as const),
    ),
  );

const WORDS = spelledBy(SHORT);
const PARTS = spelledBy(STREETS);

/** A word of a name, written out where it is a common abbreviation. */
export const written = (word: string): string => WORDS.get(word) ?? word;

/** A word of a street address, written out where it is a common abbreviation. */
export const writtenInAddress = (word: string): string => {
  const known = PARTS.get(word);
  if (known) return known;
  return word.length > 5 ? word.replace(/str(?:asse|aat)?$/, 'street') : word;
};

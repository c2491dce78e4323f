/** Spellings of units of measure, each list under the one that stands for all. */
const SPELLINGS: Record<string, string[]> = {
  gb: ['gbyte', 'gigabyte', 'gigabytes', 'gig'],
  mb: ['mbyte', 'megabyte', 'megabytes'],
  tb: ['tbyte', 'terabyte', 'terabytes'],
  kb: ['kbyte', 'kilobyte', 'kilobytes'],
  ghz: ['gigahertz'],
  mhz: ['megahertz'],
  hz: ['hertz'],
  mbps: ['mbit', 'mbits'],
  gbps: ['gbit', 'gbits'],
  in: ['inch', 'inches'],
  ft: ['foot', 'feet'],
  mm: ['millimeter', 'millimetre', 'millimeters', 'millimetres'],
  cm: ['centimeter', 'centimetre', 'centimeters', 'centimetres'],
  km: ['kilometer', 'kilometre', 'kilometers', 'kilometres'],
  kg: ['kilogram', 'kilograms'],
  lb: ['lbs', 'pound', 'pounds'],
  oz: ['ounce', 'ounces'],
  mp: ['megapixel', 'megapixels', 'mpix'],
  v: ['volt', 'volts'],
  w: ['watt', 'watts'],
  kw: ['kilowatt', 'kilowatts'],
  hr: ['hour', 'hours', 'hrs'],
  min: ['minute', 'minutes', 'mins'],
  cu: [],
  btu: [],
  rpm: [],
  dpi: [],
  ppm: [],
  db: [],
  mah: [],
  x: [],
  p: [],
  st: [],
  nd: [],
  rd: [],
  th: [],
};

const UNITS = new Map(
  Object.entries(SPELLINGS).flatMap(([unit, others]) =>
    [unit, ...others].map((spelling) => [spelling, unit]),
  ),
);

/** The unit that a folded word stands for, if it is one. */
export const unitOf = (word: string): string | undefined => UNITS.get(word);

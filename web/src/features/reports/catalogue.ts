import all from '../../generated/reports.json';

/** A parameter of a report that a control sets. */
export interface ReportParameter {
  key: string;
  description?: string;
  type?: string;
  enum?: string[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
}

export interface Report {
  /** In its address, such as `bpm/process-map`. */
  name: string;
  summary: string;
  parameters: ReportParameter[];
  takesAsOf: boolean;
  takesFilter: boolean;
}

const known = all as Report[];

/** Reports about the person or the service, which other pages show. */
const elsewhere = new Set(['my-workspace', 'admin-dashboard', 'stakeholder-directory', 'dashboard']);

export const reports: readonly Report[] = known.filter(({ name }) => !elsewhere.has(name));

export const reportOf = (name: string): Report | undefined => known.find((report) => report.name === name);

/** The title of a report: its summary without the verb. */
export const titleOf = ({ name }: Report): string => {
  const words = name.split('/').at(-1)!.replaceAll('-', ' ');
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  return title.replace(
    /\b(Kpis|Eol|Bpm|Ppm)\b/i,
    (word) => ({ kpis: 'Key figures', eol: 'End of life' })[word.toLowerCase()] ?? word.toUpperCase(),
  );
};

/** The unit of a number, which determines its format. */
export type ChartUnit = 'count' | 'percent' | 'currency' | 'number';

/** Time spans by which values are grouped. */
export type TimeStep = 'year' | 'quarter' | 'month';

/** Settings of the workspace that affect charts. */
export interface ChartWorkspace {
  /** ISO 4217. */
  currency: string;
  /** The setting `date_format`, such as `DD MMM YYYY`. */
  dateFormat: string;
}

interface Head {
  title: string;
  /** One line below the title. */
  note?: string;
}

/** Horizontal bars, one row per item, with one or several series. */
export interface BarsChart extends Head {
  kind: 'bars';
  /** Title of the rows. */
  itemAxis: string;
  /** Meaning of the length. */
  valueAxis: string;
  unit: ChartUnit;
  /** Names of the parts of a bar; one for plain bars. */
  series: string[];
  /** Whether the series are drawn next to each other instead of stacked. */
  beside?: boolean;
  /** Whether the last series is what others hold together. */
  rest?: boolean;
  /** In the order to be drawn; a value for each series, null where it is not known. */
  items: { name: string; values: (number | null)[] }[];
}

/** Areas within areas. */
export interface TreemapChart extends Head {
  kind: 'treemap';
  /** Meaning of the areas. */
  valueAxis: string;
  unit: ChartUnit;
  /** Whether all areas have the same size, so that only shade and position have a meaning. */
  even?: boolean;
  /** Meaning of the shade; without it each group has its own colour. */
  shadeAxis?: string;
  shadeUnit?: ChartUnit;
  /** `group` is the name of a group, or its key if `groups` is given. */
  items: { name: string; value: number; group?: string; shade?: number }[];
  /** Groups by key: names can be equal, and an even map also shows groups without items. */
  groups?: { key: string; name: string }[];
  /** Plural name of the items, for an even map that states how many groups have none. */
  memberName?: string;
}

/** A table of coloured cells. */
export interface MatrixChart extends Head {
  kind: 'matrix';
  rowAxis: string;
  columnAxis: string;
  valueAxis: string;
  unit: ChartUnit;
  rows: string[];
  columns: string[];
  /** Row index, column index, value; other cells are empty. */
  cells: [row: number, column: number, value: number][];
}

/** A numeric axis, or a category axis with ordered steps. */
export interface BubbleAxis {
  name: string;
  unit: ChartUnit;
  /** Category names; values are their indexes. */
  steps?: string[];
}

/** Circles at two values, sized by a third. */
export interface BubblesChart extends Head {
  kind: 'bubbles';
  x: BubbleAxis;
  y: BubbleAxis;
  size?: { name: string; unit: ChartUnit };
  /** Meaning of the colours, which show the items' groups. */
  groupAxis?: string;
  items: { name: string; x: number; y: number; size?: number; group?: string }[];
}

/** Time spans, one row per item. */
export interface RoadmapChart extends Head {
  kind: 'roadmap';
  itemAxis: string;
  /** Names of the phases in their order; the last is a point in time. */
  phases: string[];
  /** The date (`YYYY-MM-DD`) at which each phase begins, null if unknown. */
  items: { name: string; dates: (string | null)[] }[];
  /** The date of the line for today, `YYYY-MM-DD`. */
  today: string;
}

/** Nodes joined by lines. */
export interface GraphChart extends Head {
  kind: 'graph';
  groupAxis: string;
  nodes: { id: string; name: string; group: string; centre?: boolean }[];
  edges: { source: string; target: string }[];
  /** Total number of nodes, if only some are given. */
  total?: number;
}

/** Values over time; null is drawn as a gap. */
export interface LinesChart extends Head {
  kind: 'lines';
  valueAxis: string;
  unit: ChartUnit;
  /** Title of the time axis; default `Date`. */
  timeAxis?: string;
  /** The time span of each value, in UTC; without it a day or a point in time. */
  step?: TimeStep;
  /** Whether the last series is what others hold together. */
  rest?: boolean;
  /** RFC 3339, ascending. */
  times: string[];
  series: { name: string; values: (number | null)[] }[];
}

/** A few labelled numbers. */
export interface FiguresChart extends Head {
  kind: 'figures';
  /** A text is shown instead of the number. */
  items: { name: string; value: number | null; unit: ChartUnit; text?: string }[];
}

/** A chart without panels. */
export type SingleChart =
  | BarsChart
  | TreemapChart
  | MatrixChart
  | BubblesChart
  | RoadmapChart
  | GraphChart
  | LinesChart
  | FiguresChart;

/** Several charts below each other. */
interface PanelsChart extends Head {
  kind: 'panels';
  panels: SingleChart[];
}

/** The data of a chart, without its appearance. */
export type Chart = SingleChart | PanelsChart;

/** Options of the charting library with the size of the chart, in pixels. */
export interface Layout {
  width: number;
  height: number;
  option: Record<string, unknown>;
  /** Complete texts by truncated label; those of equal labels in the order of drawing. */
  shortened: Map<string, string[]>;
  /** One sentence that describes the chart. */
  description: string;
}

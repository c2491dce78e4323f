/** What a number measures, and so how it is written. */
export type ChartUnit = 'count' | 'percent' | 'currency' | 'number';

/** Spans of time that values are gathered by. */
export type TimeStep = 'year' | 'quarter' | 'month';

/** What a picture needs to know of the workspace. */
export interface ChartWorkspace {
  /** ISO 4217. */
  currency: string;
  /** As in the setting `date_format`, such as `DD MMM YYYY`. */
  dateFormat: string;
}

interface Head {
  title: string;
  /** One line below the title. */
  note?: string;
}

/** Horizontal bars, one row an item, parted into series where there are several. */
export interface BarsChart extends Head {
  kind: 'bars';
  /** What the rows are. */
  itemAxis: string;
  /** What the length means. */
  valueAxis: string;
  unit: ChartUnit;
  /** Names of the parts of a bar; one for plain bars. */
  series: string[];
  /** Whether the series stand beside each other, not one behind the other as parts of a whole. */
  beside?: boolean;
  /** Whether the last series is what others hold together. */
  rest?: boolean;
  /** In the order to be drawn; a value for each series, null where it is not known. */
  items: { name: string; values: (number | null)[] }[];
}

/** Areas within areas. */
export interface TreemapChart extends Head {
  kind: 'treemap';
  /** What the areas mean. */
  valueAxis: string;
  unit: ChartUnit;
  /** Whether every area is as large as the next, so that it is the shade or the place that tells something. */
  even?: boolean;
  /** What the shade means; without it each group has a colour of its own. */
  shadeAxis?: string;
  shadeUnit?: ChartUnit;
  /** `group` is the name of a group, or where `groups` is given the key of one. */
  items: { name: string; value: number; group?: string; shade?: number }[];
  /** Groups that are known by key: several may have one name, and in an even map those without items are shown too. */
  groups?: { key: string; name: string }[];
  /** What an item is, in an even map that says how many groups have none. */
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
  /** Index of the row, index of the column, value; cells that are not named stay empty. */
  cells: [row: number, column: number, value: number][];
}

/** An axis of numbers, or of named steps in their order. */
export interface BubbleAxis {
  name: string;
  unit: ChartUnit;
  /** Named steps; values are then their indexes. */
  steps?: string[];
}

/** Circles at two values, sized by a third. */
export interface BubblesChart extends Head {
  kind: 'bubbles';
  x: BubbleAxis;
  y: BubbleAxis;
  size?: { name: string; unit: ChartUnit };
  /** What the colours mean; the groups are the items' own. */
  groupAxis?: string;
  items: { name: string; x: number; y: number; size?: number; group?: string }[];
}

/** Spans of time, one row an item. */
export interface RoadmapChart extends Head {
  kind: 'roadmap';
  itemAxis: string;
  /** Names of the phases in their order; the last is a point in time. */
  phases: string[];
  /** The date (`YYYY-MM-DD`) at which each phase begins, null where it is not known. */
  items: { name: string; dates: (string | null)[] }[];
  /** Where the line of today stands, `YYYY-MM-DD`. */
  today: string;
}

/** Nodes joined by lines. */
export interface GraphChart extends Head {
  kind: 'graph';
  groupAxis: string;
  nodes: { id: string; name: string; group: string; centre?: boolean }[];
  edges: { source: string; target: string }[];
  /** Nodes that there are, where only some are given. */
  total?: number;
}

/** Values over time; null is a gap and is drawn as one. */
export interface LinesChart extends Head {
  kind: 'lines';
  valueAxis: string;
  unit: ChartUnit;
  /** What the moments are; `Date` without it. */
  timeAxis?: string;
  /** What each moment stands for, in UTC, from its beginning on; without it a day or a moment. */
  step?: TimeStep;
  /** Whether the last series is what others hold together. */
  rest?: boolean;
  /** RFC 3339, ascending. */
  times: string[];
  series: { name: string; values: (number | null)[] }[];
}

/** Shares of a whole. */
export interface DonutChart extends Head {
  kind: 'donut';
  valueAxis: string;
  unit: ChartUnit;
  items: { name: string; value: number }[];
}

/** A few figures in words and large digits. */
export interface FiguresChart extends Head {
  kind: 'figures';
  /** A text stands in the place of the number. */
  items: { name: string; value: number | null; unit: ChartUnit; text?: string }[];
}

/** One picture of one thing. */
export type SingleChart =
  | BarsChart
  | TreemapChart
  | MatrixChart
  | BubblesChart
  | RoadmapChart
  | GraphChart
  | LinesChart
  | DonutChart
  | FiguresChart;

/** Several pictures below each other. */
interface PanelsChart extends Head {
  kind: 'panels';
  panels: SingleChart[];
}

/** What a picture shows, as plain data: how it looks is decided where it is drawn. */
export type Chart = SingleChart | PanelsChart;

/** Options of the charting library with the size they were laid out for, in pixels. */
export interface Layout {
  width: number;
  height: number;
  option: Record<string, unknown>;
  /** Labels that were cut, each with its whole text; those of one short form in the order of drawing. */
  shortened: Map<string, string[]>;
  /** One sentence that says what is to be seen. */
  description: string;
}

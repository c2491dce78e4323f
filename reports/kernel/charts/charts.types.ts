import type { InLanguage } from './charts.texts.ts';
import type { PhaseKey, ThemeName, ToneName } from './charts.tokens.ts';

/** The unit of a number, which determines its format. */
export type ChartUnit = 'count' | 'percent' | 'currency' | 'number';

/** Time spans by which values are grouped. */
export type TimeStep = 'year' | 'quarter' | 'month';

/** Settings of the workspace that affect charts, and the language of their texts. */
export interface ChartWorkspace extends InLanguage {
  /** ISO 4217. */
  currency: string;
  /** The setting `date_format`, such as `DD MMM YYYY`. */
  dateFormat: string;
}

/** How a chart is drawn, apart from its data. */
export interface ChartOptions {
  /** Default: light. */
  theme?: ThemeName | undefined;
  /** In pixels; default 1200. */
  width?: number | undefined;
}

/** What a mark stands for; its colour follows from the scheme. */
export type Paint =
  | { phase: PhaseKey }
  /** A stored colour of an option, as a fill of at least 3:1. */
  | { option: string }
  /** The stored colour of a card type. */
  | { type: string }
  /** 0 (bad) to 3 (good). */
  | { quality: 0 | 1 | 2 | 3 }
  | { tone: ToneName }
  /** The n-th category; beyond the palette grey. */
  | { category: number }
  /** 0 (low) to 6 (high). */
  | { step: number }
  | 'accent'
  | 'others'
  /** Drawn hatched. */
  | 'none';

interface Head {
  title: string;
  /** What is shown and how much of it, below the title. */
  note?: string;
  /** What is written instead of an empty chart; default: that there is nothing to show. */
  empty?: string;
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
  /** Of each series; default: the categories. */
  paints?: Paint[];
  /** Whether the series are drawn next to each other instead of stacked. */
  beside?: boolean;
  /** Whether the last series is what others hold together. */
  rest?: boolean;
  /** Whether share and running sum of the total are written beside each bar, and items beyond `most` are combined. */
  shares?: boolean;
  /** Whether the legend has the sum of each series, as it has by default. */
  sums?: boolean;
  /** Whether each bar fills the row, so that only the parts are compared. */
  parts?: boolean;
  /** Largest number of rows; default 200. */
  most?: number;
  /** In the order to be drawn; a value for each series, null where it is not known. */
  items: { id?: string; name: string; values: (number | null)[]; paint?: Paint; hint?: string }[];
}

/** Stacked columns over consecutive spans. */
export interface ColumnsChart extends Head {
  kind: 'columns';
  /** What the columns are. */
  itemAxis?: string;
  valueAxis: string;
  unit: ChartUnit;
  series: { name: string; paint: Paint }[];
  /** In order; `apart` ones stand beside the axis, such as unknown dates. */
  items: { name: string; values: number[]; apart?: boolean }[];
  /** The column in which today lies, and the part of it that is over. */
  today?: { name: string; passed: number };
}

/** A box in boxes: a capability with what supports it, a group with its members. */
export interface Box {
  id: string;
  name: string;
  parent_id: string | null;
  /** What a leaf stands for; without it the box is neutral. */
  paint?: Paint;
  /** Number for a scale; absent without one. */
  value?: number;
  /** What lies in the box itself. */
  items?: BoxItem[];
  /** Whether it stands after all others. */
  isLast?: boolean;
}

/** What lies in a box. */
export interface BoxItem {
  /** Tells items of one name apart; default: the name. */
  id?: string;
  name: string;
  paint?: Paint;
  /** Its share in the value of each box that contains it. */
  value?: number;
  /** Its weight in a mean; default 1. */
  weight?: number;
}

/** Nested boxes by level. */
export interface BoxesChart extends Head {
  kind: 'boxes';
  /** What the boxes are. */
  itemAxis?: string;
  boxes: Box[];
  /** Names of an item: `application`, `applications`. */
  member: [one: string, several: string];
  /** Meaning of paints, in order; the spread of a subtree follows this order. */
  legend?: { name: string; paint: Paint }[];
  /** What the paints tell, such as the name of a field. */
  legendAxis?: string;
  /** Meaning of `value`; boxes are filled by it. */
  scale?: { name: string; unit: ChartUnit };
  /** Whether value and items of a box contain those of the boxes below; else values are added, with each item once. */
  rolledUp?: boolean;
  /** Whether the value of a box is the mean of those of the items in its subtree. */
  mean?: boolean;
  /** Whether boxes without items in their subtree are marked as gaps. */
  gaps?: boolean;
  /** Largest number of boxes; of more, lower levels are folded and the smallest ones combined. Default 300. */
  most?: number;
}

/** Areas within areas. */
export interface TreemapChart extends Head {
  kind: 'treemap';
  /** What the items and their groups are. */
  itemAxis?: string;
  groupAxis?: string;
  /** Meaning of the areas. */
  valueAxis: string;
  unit: ChartUnit;
  /** `group` is the name of a group, or its key if `groups` is given. */
  items: { id?: string; name: string; value: number; group?: string }[];
  /** Groups by key: names can be equal. What has no group stands last. */
  groups?: { key: string; name: string; isLast?: boolean }[];
}

/** A row or column of a matrix. */
export interface MatrixLine {
  /** Its own key as a group of others. */
  key?: string;
  name: string;
  /** Keys of the groups above, nearest first. */
  above?: { key: string; name: string }[];
}

/** Where an arrow points: to the target or column, to the source or row, or to both. */
export type FlowDirection = 'forward' | 'reverse' | 'bidirectional';

/** A table of coloured cells. */
export interface MatrixChart extends Head {
  kind: 'matrix';
  rowAxis: string;
  columnAxis: string;
  valueAxis: string;
  unit: ChartUnit;
  rows: MatrixLine[];
  columns: MatrixLine[];
  /** Largest number of rows; more are grouped. Default 60. */
  most?: number;
  /** Whether the order has a meaning; else lines with the most cells come first. */
  ordered?: boolean;
  /** Row index, column index, value; other cells are empty. */
  cells: [row: number, column: number, value: number][];
  /** Where data flows, for each cell: to the column, to the row, or both ways. */
  flows?: (FlowDirection | null)[];
}

/** A numeric axis, or a category axis with ordered steps. */
export interface BubbleAxis {
  name: string;
  unit: ChartUnit;
  /** Category names in the order to be drawn, the better ones last; values are their indexes. */
  steps?: string[];
  /** Whether the last step is good and the first one bad. */
  judged?: boolean;
}

/** Circles at two values, sized by a third. */
export interface BubblesChart extends Head {
  kind: 'bubbles';
  /** What the items are. */
  itemAxis?: string;
  x: BubbleAxis;
  y: BubbleAxis;
  size?: { name: string; unit: ChartUnit };
  /** Meaning of the colours, which show the items' groups. */
  groupAxis?: string;
  /** In order, with their colours. */
  groups?: { name: string; paint: Paint }[];
  /** Names of the top right and the bottom left corner, if both axes are judged. */
  corners?: { best: string; worst: string };
  items: { id?: string; name: string; x: number; y: number; size?: number; group?: string }[];
}

/** Time spans, one row per item. */
export interface RoadmapChart extends Head {
  kind: 'roadmap';
  itemAxis: string;
  /** The phases in their order; the last is a point in time. */
  phases: { name: string; paint: Paint }[];
  /** The date (`YYYY-MM-DD`) at which each phase begins, null if unknown. `group` is a key of `groups`. */
  items: { id?: string; name: string; dates: (string | null)[]; group?: string }[];
  groups?: { key: string; name: string; paint?: Paint }[];
  /** What the groups are. */
  groupAxis?: string;
  /** The date of the line for today, `YYYY-MM-DD`. */
  today: string;
  /** Largest number of rows; of more, those that change next are drawn. Default: all. */
  most?: number;
}

/** Nodes in layers, joined by lines. */
export interface GraphChart extends Head {
  kind: 'graph';
  /** From left to right. */
  layers: { key: string; name: string }[];
  /** In order. */
  groups: { key: string; name: string; paint: Paint; layer: string }[];
  nodes: { id: string; name: string; group: string; centre?: boolean }[];
  /** `flow`: where the arrow points. */
  edges: { source: string; target: string; flow?: FlowDirection }[];
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
  series: { name: string; values: (number | null)[]; paint?: Paint }[];
}

/** A few labelled numbers. */
export interface FiguresChart extends Head {
  kind: 'figures';
  /** A text is shown instead of the number; the hint compares it. */
  items: {
    name: string;
    value: number | null;
    unit: ChartUnit;
    text?: string;
    hint?: string;
    tone?: ToneName;
  }[];
}

/** A short table beside other charts. */
export interface ListChart extends Head {
  kind: 'list';
  columns: { name: string; right?: boolean; share: number }[];
  rows: { id?: string; cells: string[]; paint?: Paint }[];
  /** Total number of rows, if only some are given. */
  total?: number;
}

/** A chart without panels. */
export type SingleChart =
  | BarsChart
  | ColumnsChart
  | BoxesChart
  | TreemapChart
  | MatrixChart
  | BubblesChart
  | RoadmapChart
  | GraphChart
  | LinesChart
  | FiguresChart
  | ListChart;

/** Several charts, next to each other where there is room. */
interface PanelsChart extends Head {
  kind: 'panels';
  /** `wide` panels take the complete width. */
  panels: (SingleChart & { wide?: boolean })[];
}

/** The data of a chart, without its appearance. */
export type Chart = SingleChart | PanelsChart;

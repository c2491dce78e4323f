import { htmlText } from '../../../domain/modelling/diagrams/drawing.work.ts';
import { xmlAttribute } from '../../../platform/xml.ts';
import type { Box, DrawnCard, Layout } from './generate.types.ts';

/** How cards and relations look and are called. */
export interface RenderContext {
  title: string;
  /** The colour of a card type, as `#rrggbb`. */
  color(type: string): string;
  typeLabel(type: string): string;
  relationLabel(type: string): string;
}

const FRAME =
  'swimlane;html=1;startSize=32;rounded=1;arcSize=4;fontSize=13;fillColor=#eceff1;strokeColor=#90a4ae;';
const TITLE = 'text;html=1;align=left;verticalAlign=middle;fontSize=20;fontStyle=1;';
const EDGE =
  'edgeStyle=orthogonalEdgeStyle;rounded=1;html=1;endArrow=block;endFill=1;strokeColor=#607d8b;fontSize=10;labelBackgroundColor=#ffffff;';

/** What is laid out as XML of draw.io, each card with its id, so that it is followed. */
export function drawnXml({ groups, cards, edges }: Layout, look: RenderContext): string {
  const right = Math.max(600, ...[...groups, ...cards].map(({ x, width }) => x + width));
  const title = `<mxCell id="title" value="${attribute(look.title)}" style="${TITLE}" vertex="1" parent="1">${geometry({ x: 40, y: 20, width: right - 40, height: 40 })}</mxCell>`;
  const frames = groups.map((group, at) => {
    const cell = (id: string) =>
      `<mxCell${id} style="${FRAME}" vertex="1" parent="1">${geometry(group)}</mxCell>`;
    const id = `group-${at}`;
    if (group.card === null) {
      return cell(` id="${id}" value="${attribute(group.label)}"`);
    }
    return object(id, group.card, look, cell(''));
  });
  const boxes = cards.map((placed, at) => {
    const parent = placed.within === undefined ? '1' : `group-${placed.within}`;
    return object(
      `card-${at}`,
      placed.card,
      look,
      `<mxCell style="${styleOf(look.color(placed.card.type))}" vertex="1" parent="${parent}">${geometry(placed)}</mxCell>`,
    );
  });
  const lines = edges.map(
    ({ from, to, relation }, at) =>
      `<mxCell id="edge-${at}" value="${attribute(look.relationLabel(relation.type))}" style="${EDGE}" edge="1" parent="1" source="card-${from}" target="card-${to}"><mxGeometry relative="1" as="geometry"/></mxCell>`,
  );
  const root = ['<mxCell id="0"/>', '<mxCell id="1" parent="0"/>', title, ...frames, ...boxes, ...lines];
  return `<mxGraphModel grid="1" gridSize="10" page="0">\n<root>\n${root.join('\n')}\n</root>\n</mxGraphModel>`;
}

const attribute = (label: string): string => xmlAttribute(htmlText(label));

function object(id: string, card: DrawnCard, look: RenderContext, cell: string): string {
  const kind = xmlAttribute(card.type);
  const tooltip = xmlAttribute(look.typeLabel(card.type));
  return `<UserObject id="${id}" label="${attribute(card.name)}" cardId="${card.id}" cardType="${kind}" tooltip="${tooltip}" link="/cards/${card.id}">${cell}</UserObject>`;
}

const geometry = ({ x, y, width, height }: Box): string =>
  `<mxGeometry x="${x}" y="${y}" width="${width}" height="${height}" as="geometry"/>`;

function styleOf(color: string): string {
  return `rounded=1;whiteSpace=wrap;html=1;arcSize=12;fillColor=${color};strokeColor=none;fontColor=${inkOn(color)};spacing=6;`;
}

/** Black or white, whichever is read better on the colour (WCAG 2.2, relative luminance). */
export function inkOn(color: string): '#000000' | '#ffffff' {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return (luminance + 0.05) ** 2 > 0.05 * 1.05 ? '#000000' : '#ffffff';
}

import { readFileSync } from 'node:fs';

const BPMN = 'http://www.omg.org/spec/BPMN/20100524/MODEL';

/** A model whose root holds what is given. */
export const definitions = (content: string, more = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<b:definitions xmlns:b="${BPMN}" xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:di="http://www.omg.org/spec/DD/20100524/DI" targetNamespace="https://estate.example"${more}>\n${content}\n</b:definitions>\n`;

/** Tasks of one process, one after the other: names by their ids. */
export function chain(tasks: Record<string, string>): string {
  const ids = Object.keys(tasks);
  const elements = ids.map((id) => `<b:userTask id="${id}" name="${tasks[id]}"/>`);
  const flows = ids
    .slice(1)
    .map((id, n) => `<b:sequenceFlow id="f${n}" sourceRef="${ids[n]}" targetRef="${id}"/>`);
  return definitions(`<b:process id="p">${[...elements, ...flows].join('')}</b:process>`);
}

/** Two pools with lanes, subprocesses within each other, events and gateways, and a drawing. */
export const rich = definitions(readFileSync(new URL('./models.rich.xml', import.meta.url), 'utf8'));

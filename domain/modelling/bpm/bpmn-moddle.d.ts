/** The package describes its types, but not for its entry. */
declare module 'bpmn-moddle' {
  export interface ModdleElement {
    $type: string;
    id?: string;
    name?: string;
    [property: string]: unknown;
  }
  export interface ParsedModel {
    rootElement: ModdleElement;
    warnings: { message: string }[];
  }
  export class BpmnModdle {
    fromXML(xml: string, type?: string): Promise<ParsedModel>;
  }
}

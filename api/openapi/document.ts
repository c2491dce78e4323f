/** The parts of an OpenAPI 3.1 document that this service writes. */
export interface OpenApiDocument {
  openapi: string;
  info: Record<string, unknown>;
  servers: object[];
  /** Of operations without their own. */
  security: object[];
  tags: object[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, OpenApiParameter>;
    responses: Record<string, OpenApiResponse>;
    [kind: string]: Record<string, object>;
  };
}

export interface OpenApiOperation {
  operationId: string;
  parameters?: OpenApiParameter[] | undefined;
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  responses: Record<string, OpenApiResponse>;
  [member: string]: unknown;
}

export interface OpenApiParameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

export interface OpenApiResponse {
  description: string;
  headers?: Record<string, object>;
  content?: Record<string, MediaType>;
  'x-error-codes'?: string[];
}

export interface MediaType {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, object>;
}

/** A JSON schema in the document, with the members that are read here. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  minimum?: number;
  minItems?: number;
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  example?: unknown;
  examples?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  [member: string]: unknown;
}

/** All operations of the document. */
export const operationsOf = ({ paths }: OpenApiDocument): OpenApiOperation[] =>
  Object.values(paths).flatMap((methods) => Object.values(methods));

/** A reference to a component, which can replace any part of the document. */
export const reference = <T>(kind: string, name: string): T =>
  ({ $ref: `#/components/${kind}/${name}` }) as T;

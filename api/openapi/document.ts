/** The parts of an OpenAPI 3.1 document that this service writes. */
export interface OpenApiDocument {
  openapi: string;
  info: Record<string, unknown>;
  servers: object[];
  tags: object[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: Record<string, Record<string, object>>;
}

export interface OpenApiOperation {
  operationId: string;
  parameters?: OpenApiParameter[];
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

/* global SwaggerUIBundle */
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#page',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayOperationId: true,
  displayRequestDuration: true,
  filter: true,
  showExtensions: true,
  // nothing is sent anywhere but to this service
  validatorUrl: null,
});

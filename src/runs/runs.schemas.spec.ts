import { createRunSchema } from './runs.schemas';

it('a field of the tracer that is null is absent', () => {
  const body = { assistant_id: 'a', langsmith_tracer: { project_name: 'p', example_id: null } };
  expect(createRunSchema.parse(body).langsmith_tracer).toEqual({ project_name: 'p' });
});

/** Calls of LangSmith's clients to parts of its platform that Gantry doesn't have: they are answered with 404. */
export const NOT_SERVED: { why: string; methods: string[] }[] = [
  {
    why: 'Gantry has no datasets, examples and experiments',
    methods: [
      ...words(`clone_public_dataset create_chat_example create_comparative_experiment create_dataset create_example
        create_examples create_llm_example delete_dataset delete_example delete_examples
        diff_dataset_versions get_dataset_url get_experiment_results has_dataset list_dataset_splits
        list_dataset_versions list_datasets list_examples list_shared_examples list_shared_projects read_dataset
        read_dataset_openai_finetuning read_dataset_shared_schema read_dataset_version read_example read_shared_dataset
        share_dataset unshare_dataset update_dataset update_dataset_splits update_dataset_tag update_example
        update_examples update_examples_multipart upload_csv upload_examples_multipart upsert_examples_multipart`),
      ...below('datasets', 'examples.delete examples.update_metadata experiment_runs.query list_v2'),
    ],
  },
  {
    why: 'Gantry has no hub of prompts, agents and skills',
    methods: [
      ...words(`agent_exists create_commit create_prompt delete_agent delete_prompt delete_skill get_prompt like_prompt
        list_agents list_commits list_prompt_commits list_prompts list_skills prompt_exists pull_agent pull_prompt
        pull_prompt_commit pull_skill push_agent push_prompt push_skill skill_exists unlike_prompt update_prompt`),
      ...below('agents', 'create delete list retrieve update'),
    ],
  },
  {
    why: 'Gantry has no annotation queues',
    methods: [
      ...words(`add_runs_to_annotation_queue create_annotation_queue delete_annotation_queue
        delete_run_from_annotation_queue get_run_from_annotation_queue get_size_from_annotation_queue
        list_annotation_queues list_runs_from_annotation_queue read_annotation_queue update_annotation_queue`),
      ...below(
        'annotation_queues',
        `annotation_queues create_run_status delete export items.clear_final items.create items.create_status
        items.delete_all items.list items.retrieve_count items.retrieve_placement items.set_final items.update populate retrieve retrieve_annotation_queues
        retrieve_queues retrieve_run retrieve_size retrieve_total_archived retrieve_total_size runs.create
        runs.create_by_key runs.delete_all runs.delete_queue runs.list runs.update update`,
      ),
    ],
  },
  {
    why: 'feedback has any key and value here, without configurations and formulas',
    methods: words(`add_feedback_categories create_feedback_config delete_feedback_config list_feedback_configs
      remove_feedback_categories update_feedback_config`),
  },
  {
    why: 'Gantry doesn’t evaluate traces: no online evaluators, insights and issues',
    methods: [
      ...words('get_insights_report list_project_issues poll_insights'),
      ...below('evaluators', 'bulk_delete create delete list retrieve spend update'),
    ],
  },
  {
    why: 'Gantry has no sandboxes',
    methods: below(
      'sandboxes',
      `boxes.batch_delete boxes.create boxes.create_snapshot boxes.delete boxes.delete_service_url boxes.generate_download_url
      boxes.generate_service_url boxes.get_status boxes.list boxes.list_service_urls boxes.retrieve boxes.start boxes.stop
      boxes.update list_usage_costs registries.create registries.delete registries.list registries.retrieve
      registries.update snapshots.create snapshots.delete snapshots.list snapshots.retrieve snapshots.retrieve_by_name
      retrieve_usage volumes.clone volumes.create volumes.delete volumes.list volumes.retrieve volumes.update`,
    ),
  },
  {
    why: 'projects have no tags of a workspace',
    methods: below(
      'workspace_tags',
      `keys.create keys.delete keys.list keys.retrieve keys.update keys.values.create keys.values.delete
      keys.values.list keys.values.retrieve keys.values.update list`,
    ),
  },
  { why: 'Gantry has no pages of projects and of single runs', methods: ['sessions.dashboard', 'runs.get_url'] },
];

/** Methods that send nothing of their own: they wait, close, or make a text out of what the client knows. */
export const LOCAL = words(`aclose await_pending_trace_batches cleanup close flush flush_compressed_traces get_host_url
  get_project_url get_run_url request_with_retries to_string`);

/** Methods that run the caller's own evaluator and report by methods that are listed for themselves. */
export const COMPOSED = words('aevaluate_run evaluate_run log_evaluation_feedback');

/** Methods that the client itself refuses, or that need a package, an evaluator or a model of the caller's before they send. */
export const NOT_CALLED =
  words(`aevaluate create_example_from_run create_feedback_formula delete_feedback_formula evaluate
  generate_insights get_feedback_formula_by_id get_test_results list_feedback_formulas update_feedback_formula
  upload_dataframe`);

/** Arguments that exclude each other: of each pair, the second is left out. */
const EXCLUSIVE = [
  ['dataset_id', 'dataset_name'],
  ['run_ids', 'runs'],
  ['feedback_key', 'config_id'],
  ['project_id', 'project_name'],
  ['project_id', 'name'],
] as const;

/** Arguments of a call that is refused whatever it says. */
export function placeholders(method: string, parameters: string[]): Record<string, unknown> {
  const given = parameters.filter((name) => name in PLACEHOLDERS);
  const excluded = EXCLUSIVE.filter(([first]) => given.includes(first)).map(([, second]) => second as string);
  if (method === 'read_dataset_version') excluded.push('tag');
  const names = given.filter((name) => !excluded.includes(name));
  return Object.fromEntries(names.map((name) => [name, PLACEHOLDERS[name]]));
}

const ID = '5b1dbd4e-0000-4000-8000-00000000000f';
const NOW = '2026-01-01T00:00:00Z';
const EXAMPLE = { id: ID, inputs: { a: 1 }, dataset_id: ID };
/** Arguments by the name of the parameter. */
const PLACEHOLDERS: Record<string, unknown> = {
  ...Object.fromEntries(
    words(`dataset_id example_id queue_id run_id agent_id evaluator_id snapshot_id project_id session_id item_id
      queue_item_id queue_run_id annotation_queue_run_id feedback_formula_id share_token dataset_share_token trace_id token_or_url id config_id
      reference_dataset resource_id`).map((name) => [name, ID]),
  ),
  ...Object.fromEntries(
    words(
      'dataset_name name identifier prompt_identifier feedback_key tag split_name project_name path_name body_name key volume',
    ).map((name) => [name, 'any']),
  ),
  ...{ example_ids: [ID], run_ids: [ID], evaluator_ids: [ID], session_ids: [ID], experiments: [ID], index: 0 },
  ...{
    experiment_ids: [ID],
    feedback_keys: ['any'],
    size_bytes: 1_000_000,
    categories: [{ value: 1, label: 'good' }],
    values: [1],
  },
  ...{
    inputs: { a: 1 },
    outputs: { b: 2 },
    input: [{ role: 'user', content: 'a' }],
    generation: 'b',
    prompt: 'a',
    metadata: {},
    items: [],
  },
  ...{ messages: [{ type: 'human', data: { content: 'a' } }], generations: [], examples: [EXAMPLE] },
  ...{ uploads: [EXAMPLE], updates: [EXAMPLE], update: [EXAMPLE], upserts: [], body: [], runs: [] },
  ...{ input_keys: ['a'], output_keys: ['b'], feedback_config: { type: 'freeform' }, files: {}, status: 'active' },
  ...{ aggregation_type: 'sum', formula_parts: [], from_version: NOW, to_version: NOW, as_of: NOW, start_time: NOW },
  ...{ period_start: '2026-01-01', end_time: NOW, object: { a: 1 }, type: 'code', source_type: 'any', port: 80 },
  ...{ url: 'https://registry.test', docker_image: 'any', fs_capacity_bytes: 1, path: '/a', description: 'any' },
  ...{ csv_file: 'any', file_name: 'any', openai_api_key: 'any', operations: {}, data: 'any' },
};

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

function below(owner: string, methods: string): string[] {
  return words(methods).map((method) => `${owner}.${method}`);
}

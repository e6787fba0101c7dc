import { fromProtoJson } from './a2a-proto-json';
import { METHODS_1_0 } from './a2a.schemas';

describe('parameters in ProtoJSON', () => {
  const camel = {
    message: {
      messageId: 'm',
      contextId: 'c',
      role: 'ROLE_USER',
      parts: [
        { raw: '+/8=', mediaType: 'image/png', filename: 'a' },
        { data: { snake_case: { inner_key: 1 } } },
        { text: 'x', metadata: { my_key: true } },
      ],
      referenceTaskIds: ['t'],
    },
    configuration: {
      acceptedOutputModes: ['text/plain'],
      historyLength: 3,
      returnImmediately: true,
      taskPushNotificationConfig: { url: 'https://example.com/some_path', taskId: 't' },
    },
  };

  it('have names in camelCase or in snake_case, enums by name or number, numbers as text, and any base64', () => {
    const snake = {
      message: {
        message_id: 'm',
        context_id: 'c',
        role: 1,
        parts: [
          { raw: '-_8', media_type: 'image/png', filename: 'a' },
          { data: { snake_case: { inner_key: 1 } } },
          { text: 'x', metadata: { my_key: true } },
        ],
        reference_task_ids: ['t'],
      },
      configuration: {
        accepted_output_modes: ['text/plain'],
        history_length: '3',
        return_immediately: true,
        task_push_notification_config: { url: 'https://example.com/some_path', task_id: 't' },
      },
    };
    expect(fromProtoJson(snake)).toEqual(camel);
    expect(fromProtoJson(camel)).toEqual(camel);
    expect(METHODS_1_0.SendMessage.safeParse(fromProtoJson(snake)).success).toBe(true);
  });

  it('name states by number', () => {
    expect(fromProtoJson({ status: 3, page_size: '5' })).toEqual({ status: 'TASK_STATE_COMPLETED', pageSize: 5 });
  });

  it.each([{ status: 99 }, { role: 7 }, { pageSize: 'many' }, { status: 'completed' }, null, 'text', [1]])(
    'leave invalid values for the validation to reject: %j',
    (params) => {
      expect(fromProtoJson(params)).toEqual(params);
    },
  );
});
